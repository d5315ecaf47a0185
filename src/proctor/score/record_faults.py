"""Faults of recorded data as ``InvalidEvaluation``, which is what everything that can't be scored raises. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from proctor.codec.jsonl import parse_row
from proctor.errors import InputError, InvalidEvaluation, Place

__all__ = ["WHOLE_ROW", "as_invalid", "check_plain", "parse_strictly"]

WHOLE_ROW = "(whole row)"
_DEEPEST = 128


def as_invalid(error: InputError) -> InvalidEvaluation:
    """The same fault as an ``InvalidEvaluation``; one without a field is about the whole row."""
    if isinstance(error, InvalidEvaluation):
        return error
    place = error.place
    if place is not None and place.line is not None and place.field is None:
        place = Place(place.file, place.line, WHOLE_ROW)
    return InvalidEvaluation(
        error.problem,
        place=place,
        expected=error.expected,
        found=error.found,
        fix=error.fix or "correct the row",
        code=error.code,
    )


def parse_strictly(raw: bytes, name: str | None, line: int) -> dict[str, Any]:
    """The object of one line of JSONL. Raises ``InvalidEvaluation`` with file, line and field."""
    try:
        return parse_row(raw, file=name, line=line)
    except InputError as error:
        raise as_invalid(error) from error


def check_plain(value: Any, at: Callable[[str], Place], *, finite: bool, path: str = "", depth: int = 0) -> None:
    """Refuse what no JSON file could have held: keys that are no texts, lone surrogates, endless nesting.

    ``finite``: other values than JSON's, and numbers that aren't finite, are refused as well.
    """
    if depth > _DEEPEST:
        raise InvalidEvaluation("nested too deeply", place=at(path), expected=f"at most {_DEEPEST} levels")
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise InvalidEvaluation("lone surrogate in a text", place=at(path), expected="valid Unicode", found=value)
    elif isinstance(value, Mapping):
        for key, child in value.items():
            if not isinstance(key, str):
                raise InvalidEvaluation("a key is no text", place=at(path), expected="texts as keys", found=key)
            check_plain(key, at, finite=finite, path=path, depth=depth + 1)
            check_plain(child, at, finite=finite, path=f"{path}.{key}" if path else key, depth=depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, child in enumerate(value):
            check_plain(child, at, finite=finite, path=f"{path}[{number}]", depth=depth + 1)
    elif finite and isinstance(value, float) and not math.isfinite(value):
        raise InvalidEvaluation(
            "non-finite number", place=at(path), expected="a finite number", found=value, code="non_finite"
        )
    elif finite and value is not None and not isinstance(value, (bool, int, float)):
        raise InvalidEvaluation("not a JSON value", place=at(path), expected="what JSON can hold", found=value)
