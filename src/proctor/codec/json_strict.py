"""Strict JSON: what every other reader lets through quietly is refused here, with its place.

Refused: duplicate keys at any depth, NaN and Infinity, numbers that overflow to infinity, lone surrogates,
bytes that are not UTF-8, trailing text, a byte-order mark, more bytes or depth than the limits allow.
Left out: what the values mean; that is ``decode`` in ``codec.models`` and each room's own rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import jiter
import msgspec

from proctor.errors import InputError, Place

__all__ = ["DEFAULT_LIMITS", "JsonFault", "Limits", "parse_json"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings for one document: ``max_bytes`` of input and ``max_depth`` of nesting."""

    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 128


DEFAULT_LIMITS = Limits()


class JsonFault(InputError):
    """JSON that can't be read strictly. ``code``: ``syntax``, ``duplicate_key``, ``non_finite``, ``encoding``,
    ``too_large`` or ``too_deep``."""


def parse_json(
    data: bytes | bytearray | memoryview,
    *,
    file: str | None = None,
    first_line: int = 1,
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Read one JSON document.

    ``first_line`` is the line in ``file`` at which ``data`` starts. Returns plain Python values; integers keep
    every digit, other numbers are finite floats. Raises ``JsonFault``.
    """
    raw = bytes(data)
    if len(raw) > limits.max_bytes:
        raise JsonFault(
            "the document is too large",
            place=Place(file, first_line),
            expected=f"at most {limits.max_bytes:,} bytes",
            found=f"{len(raw):,} bytes",
            code="too_large",
        )
    try:
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        raise _explain(raw, str(error), file, first_line, limits.max_depth) from None
    _check_values(value, raw, file, first_line, limits)
    return value


def _check_values(value: Any, raw: bytes, file: str | None, first_line: int, limits: Limits) -> None:
    """Refuse what jiter reads without complaint: numbers that overflow, and nesting beyond the limit.

    Both are looked for quickly first; only a document that has one is walked for the place.
    """
    may_be_deep = raw.count(b"[") + raw.count(b"{") > limits.max_depth
    if not _may_overflow(value) and not (may_be_deep and _is_deeper(value, limits.max_depth)):
        return
    stack: list[tuple[Any, str, int]] = [(value, "", 1)]
    while stack:
        item, path, depth = stack.pop()
        kind = type(item)
        if kind is dict or kind is list:
            if depth > limits.max_depth:
                raise JsonFault(
                    "nested too deeply",
                    place=Place(file, first_line, path or None),
                    expected=f"at most {limits.max_depth} levels",
                    code="too_deep",
                )
            pairs = item.items() if kind is dict else enumerate(item)
            for key, child in pairs:
                if type(child) in (dict, list, float):
                    stack.append((child, _join(path, key), depth + 1))
        elif kind is float and (item - item) != 0.0:
            raise JsonFault(
                "non-finite number: it overflows to infinity",
                place=Place(file, first_line + _line_of_overflow(raw), path or None),
                expected="a number that a 64-bit float can hold",
                fix="write a smaller number, or a string",
                code="non_finite",
            )


_INFINITIES = (b"\xcb\x7f\xf0" + bytes(6), b"\xcb\xff\xf0" + bytes(6))


def _may_overflow(value: Any) -> bool:
    """False when no number is infinite: MessagePack writes an infinity as nine bytes that are easy to find."""
    try:
        packed = msgspec.msgpack.encode(value)
    except OverflowError:  # an integer of more than 64 bits
        return True
    return _INFINITIES[0] in packed or _INFINITIES[1] in packed


def _is_deeper(value: Any, max_depth: int) -> bool:
    level = [value] if type(value) in (dict, list) else []
    for _ in range(max_depth):
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _join(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _line_of_overflow(raw: bytes) -> int:
    for match in re.finditer(rb"-?\d[\d.]*(?:[eE][+-]?\d+)?", raw):
        if float(match.group()) in (float("inf"), float("-inf")):
            return raw.count(b"\n", 0, match.start())
    return 0


_POSITION = re.compile(r"^(.*) at line (\d+) column (\d+)$", re.DOTALL)
_WORDS = ((b"NaN", "NaN"), (b"Infinity", "Infinity"), (b"-Infinity", "-Infinity"))


def _explain(raw: bytes, text: str, file: str | None, first_line: int, max_depth: int) -> JsonFault:
    match = _POSITION.match(text)
    what, line, column = (match[1], int(match[2]), int(match[3])) if match else (text, 1, 1)
    offset = len(raw) if what.startswith("EOF") else _offset(raw, line, column)
    path = _path_at(raw, offset)
    place = Place(file, first_line + line - 1, path)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        bad_line = raw.count(b"\n", 0, error.start)
        return JsonFault(
            "not UTF-8",
            place=Place(file, first_line + bad_line, _path_at(raw, error.start)),
            expected="UTF-8 text",
            found=f"byte 0x{raw[error.start]:02x}",
            fix="save the file as UTF-8",
            code="encoding",
        )
    if what.startswith("Detected duplicate key"):
        key = what.split('"', 1)[1].rsplit('"', 1)[0]
        is_at_key = path is not None and (path == key or path.endswith("." + key))
        owner = (path or "").removesuffix(key).removesuffix(".") if is_at_key else (path or "")
        return JsonFault(
            "duplicate JSON key",
            place=Place(file, place.line, _join(owner, key)),
            expected="each key once in an object",
            found=f'"{key}" twice',
            fix="remove one of the two",
            code="duplicate_key",
        )
    start = _token_start(raw, offset)
    for word, name in _WORDS:
        if raw.startswith(word, start):
            return JsonFault(
                "non-finite number",
                place=place,
                expected="a finite number or null",
                found=name,
                code="non_finite",
            )
    if "recursion" in what:
        return JsonFault("nested too deeply", place=place, expected=f"at most {max_depth} levels", code="too_deep")
    if "hex escape" in what or "surrogate" in what:
        return JsonFault(
            "lone surrogate in a string",
            place=place,
            expected="valid Unicode",
            fix="write the whole character, or its two escapes together",
            code="encoding",
        )
    if raw.startswith(b"\xef\xbb\xbf"):
        return JsonFault(
            "the text starts with a byte-order mark",
            place=Place(file, first_line),
            expected="plain UTF-8",
            fix="save it without a byte-order mark",
            code="encoding",
        )
    found = "the end of the text" if "EOF" in what else repr(raw[start : start + 12].decode("utf-8", "replace"))
    return JsonFault(f"invalid JSON: {what}", place=place, expected="one JSON value", found=found, code="syntax")


def _offset(raw: bytes, line: int, column: int) -> int:
    """Byte offset of a line and a column, both counted from 1."""
    start = 0
    for _ in range(line - 1):
        start = raw.find(b"\n", start) + 1
    return max(0, min(len(raw), start + column - 1))


def _token_start(raw: bytes, offset: int) -> int:
    """Where the word or number that ``offset`` lies in starts; at most a few bytes back."""
    start = min(offset, len(raw))
    while start > max(0, offset - 12) and (raw[start - 1 : start].isalnum() or raw[start - 1] in b"+-."):
        start -= 1
    return start


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


def _path_at(raw: bytes, offset: int) -> str | None:
    """The path of the field being written at ``offset``, found by walking the tokens up to there."""
    stack: list[str | int] = []
    key: str | None = None
    for match in _TOKEN.finditer(raw, 0, offset):
        token = match.group()
        if token == b"{":
            stack.append("")
        elif token == b"[":
            stack.append(0)
        elif token in (b"}", b"]"):
            if stack:
                stack.pop()
        elif token == b"," and stack:
            top = stack[-1]
            if isinstance(top, int):
                stack[-1] = top + 1
            else:
                stack[-1] = ""
        elif token == b":" and stack and key is not None:
            stack[-1] = key
        elif token[:1] == b'"':
            key = _key_text(token)
    path = ""
    for part in stack:
        if part != "":
            path = _join(path, part)
    return path or None


def _key_text(token: bytes) -> str:
    try:
        return str(jiter.from_json(token))
    except ValueError:
        return token[1:-1].decode("utf-8", "replace")
