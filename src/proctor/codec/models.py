"""From plain values to frozen typed models, with the place of every mistake and the nearest right name.

``convert`` is strict: no coercion, unknown fields refused. Left out: reading files.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_type_hints

import msgspec

from proctor.errors import InputError, Place, SuiteError

__all__ = ["convert", "nearest", "tidy_path"]

T = TypeVar("T")
_AT = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?(?P<path>\$.*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"unknown field `(.*)`")
_MISSING = re.compile(r"missing required field `(.*)`")
_TYPES = re.compile(r"Expected `(.*?)`(?:, got `(.*)`)?(.*)", re.DOTALL)


def convert(
    value: Any,
    model: type[T],
    *,
    place: Callable[[str], Place],
    error: type[InputError] = SuiteError,
) -> T:
    """A ``model`` from plain values. ``place`` turns a field path (``a.b[2]``) into the place to name.

    Raises ``error`` with what was expected, what was found, and where.
    """
    try:
        return msgspec.convert(value, model, strict=True)
    except msgspec.ValidationError as fault:
        raise _explain(str(fault), value, model, place, error) from None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A known name that ``name`` was probably meant to be."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def tidy_path(path: str | None) -> str:
    """``$.a.b[0]`` → ``a.b[0]``."""
    return "" if not path else path.removeprefix("$").removeprefix(".")


def _explain(
    text: str, value: Any, model: type[Any], place: Callable[[str], Place], error: type[InputError]
) -> InputError:
    match = _AT.match(text)
    what, path = (match["what"], tidy_path(match["path"])) if match else (text, "")
    if unknown := _UNKNOWN.search(what):
        name = unknown[1]
        owner = _owner(model, path)
        known = sorted(_names(owner)) if owner else []
        guess = nearest(name, known)
        return error(
            f"unknown key {name!r}",
            place=place(_join(path, name)),
            expected=f"one of {', '.join(known)}" if known else "a known key",
            found=name,
            fix=f"did you mean {guess!r}?" if guess else "remove it",
            code="unknown_key",
        )
    if missing := _MISSING.search(what):
        return error(
            f"the key {missing[1]!r} is missing",
            place=place(path),
            expected=missing[1],
            fix=f"add {missing[1]!r}",
            code="missing_key",
        )
    found = _value_at(value, path)
    types = _TYPES.search(what)
    expected = f"{types[1]}{types[3]}" if types else what
    return error(
        "wrong type" if types and types[2] else "wrong value",
        place=place(path),
        expected=_described(model, path, expected),
        found=found,
        fix="change the value",
        code="wrong_type" if types and types[2] else "wrong_value",
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _parts(path: str) -> list[str | int]:
    return [int(b) if b else a for a, b in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]


def _value_at(value: Any, path: str) -> Any:
    part: Any
    for part in _parts(path):
        if part == "..." or not isinstance(value, (dict, list)):
            return None
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _names(model: type[Any]) -> tuple[str, ...]:
    return tuple(getattr(model, "__struct_encode_fields__", ()))


def _owner(model: type[Any], path: str) -> type[Any] | None:
    """The struct type that the object at ``path`` was read as, where that can be told."""
    current: Any = model
    for part in _parts(path):
        if isinstance(part, str) and hasattr(current, "__struct_fields__"):
            fields = dict(zip(current.__struct_encode_fields__, current.__struct_fields__, strict=True))
            if part not in fields:
                return None
            current = _struct_in(get_type_hints(current)[fields[part]])
        if current is None:
            return None
    return current if hasattr(current, "__struct_fields__") else None


def _described(model: type[Any], path: str, expected: str) -> str:
    """A pattern in words, where the field's ``msgspec.Meta`` has a description: nobody should have to read a regex."""
    if "matching regex" not in expected:
        return expected
    parent, _, name = path.rpartition(".")
    owner = _owner(model, parent)
    if owner is None:
        return expected
    fields = dict(zip(owner.__struct_encode_fields__, owner.__struct_fields__, strict=True))
    hint = get_type_hints(owner, include_extras=True).get(fields.get(name, ""))
    words = [meta.description for meta in getattr(hint, "__metadata__", ()) if getattr(meta, "description", None)]
    return words[0] if words else expected


def _struct_in(hint: Any) -> Any:
    if hasattr(hint, "__struct_fields__"):
        return hint
    for argument in getattr(hint, "__args__", ()):
        found = _struct_in(argument)
        if found is not None:
            return found
    return None
