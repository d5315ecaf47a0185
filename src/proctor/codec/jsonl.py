"""Strict JSONL: one JSON object a line, and a line ends at ``\\n`` alone.

U+2028, U+2029, ``\\r`` and friends inside a string are text, so ``str.splitlines`` must never touch such a file.
A blank line is a fault: it may be a row that was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from proctor.codec.json_strict import DEFAULT_LIMITS, JsonFault, Limits, parse_json
from proctor.errors import InputError, Place

__all__ = ["iter_jsonl", "parse_row", "read_jsonl"]


def read_jsonl(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> list[tuple[int, dict[str, Any]]]:
    """All rows of a file as ``(line, object)``. Raises ``InputError`` with file, line and field."""
    name = str(path)
    try:
        with Path(path).open("rb") as stream:
            return list(iter_jsonl(stream, file=name, limits=limits))
    except OSError as error:
        raise InputError(
            f"can't read the file: {error.strerror}", place=Place(name), expected="a readable JSONL file"
        ) from error


def iter_jsonl(
    stream: BinaryIO, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of an open binary stream as ``(line, object)``, in order, without holding the file in memory."""
    number = 0
    while raw := stream.readline(limits.max_bytes + 2):
        number += 1
        yield number, parse_row(raw, file=file, line=number, limits=limits)


def parse_row(raw: bytes, *, file: str | None = None, line: int = 1, limits: Limits = DEFAULT_LIMITS) -> dict[str, Any]:
    """The object of one line, with or without its ``\\n``. Raises ``JsonFault``."""
    body = raw[:-1] if raw.endswith(b"\n") else raw
    if not body.strip(b" \t\r"):
        raise JsonFault(
            "blank line",
            place=Place(file, line),
            expected="one JSON object a line",
            fix="remove the line, or restore the row that stood there",
            code="syntax",
        )
    value = parse_json(body, file=file, first_line=line, limits=limits)
    if type(value) is not dict:
        raise JsonFault(
            "not an object",
            place=Place(file, line),
            expected="a JSON object",
            found=value,
            code="syntax",
        )
    return value
