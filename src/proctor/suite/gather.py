"""All mistakes of a table at once: read it, note the first mistake, take the part that is wrong out, read it again.

Pure. A part that was taken out is never used; it only lets the rest be checked.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from proctor.codec.models import convert
from proctor.errors import InputError, Place

__all__ = ["gather", "gather_model"]

T = TypeVar("T")
_MOST = 100
_MEANT = re.compile(r"did you mean '([^']+)'\?")
_PARTS = re.compile(r'"([^"]*)"|([^.\[\]"]+)|\[(\d+|\.\.\.)\]')


def gather(
    values: Mapping[str, Any],
    read: Callable[[dict[str, Any]], T],
    field: Callable[[InputError], str],
    *,
    fill: Mapping[str, Any] | None = None,
) -> tuple[T | None, list[InputError]]:
    """What ``read`` makes of the values without their mistakes (None if nothing is left to read), and all mistakes.

    ``field`` is the path of a mistake within the values. ``fill`` gives values for keys that must be there, so that
    reading can go on without them.
    """
    left: dict[str, Any] = copy.deepcopy(dict(values))
    mistakes: list[InputError] = []
    filled: set[str] = set()
    for _ in range(_MOST):
        try:
            return read(left), mistakes
        except InputError as mistake:
            missing = next(
                (k for k in fill or () if k not in left and mistake.problem.endswith(f"{k!r} is missing")), ""
            )
            if missing:
                left[missing] = (fill or {})[missing]
                if missing not in filled:
                    mistakes.append(mistake)
                continue
            mistakes.append(mistake)
            path = field(mistake)
            filled.add(path)
            if not path or not _take_out(left, path, guess=_guess(mistake)):
                return None, mistakes
    return None, mistakes


def gather_model(
    values: Mapping[str, Any], model: type[T], place: Callable[[str], Place], *, fill: Mapping[str, Any] | None = None
) -> tuple[T | None, list[InputError]]:
    """``gather`` for a struct; ``place`` is what ``convert`` takes."""
    fields: list[str] = []

    def remember(field: str) -> Place:
        fields.append(field)
        return place(field)

    def read(left: dict[str, Any]) -> T:
        return convert(left, model, place=remember)

    return gather(values, read, lambda _: fields[-1] if fields else "", fill=fill)


def _missing(mistake: InputError, left: Mapping[str, Any], fill: Mapping[str, Any]) -> str:
    """The key that a mistake says is missing, if there is a value to fill it with."""
    return next((key for key in fill if key not in left and mistake.problem == f"the key {key!r} is missing"), "")


def _guess(mistake: InputError) -> str | None:
    """The key that was probably meant, where a mistake is an unknown one."""
    match = _MEANT.fullmatch(mistake.fix or "")
    return match[1] if match and "unknown key" in mistake.problem else None


def _take_out(values: Any, path: str, *, guess: str | None) -> bool:
    """Remove what stands at a path, or the nearest thing around it that can be found; False if nothing was.

    A misspelt key is read as the one that was meant, so that what it holds is checked too.
    """
    owner: Any = values
    key: Any = None
    trail: list[tuple[Any, Any]] = []
    for quoted, name, index in _PARTS.findall(path):
        key = quoted or name or (int(index) if index.isdecimal() else None)
        in_list = isinstance(owner, list) and isinstance(key, int) and key < len(owner)
        if in_list or (isinstance(owner, dict) and key in owner):
            trail.append((owner, key))
        else:
            break
        owner = owner[key]
    if not trail:
        return False
    owner, key = trail[-1]
    taken = owner.pop(key)
    if guess is not None and isinstance(owner, dict) and guess not in owner:
        owner[guess] = taken
    return True
