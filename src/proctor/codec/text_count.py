"""How many texts, keys included, the JSON of a typed value holds: twice as many quotation marks, without escapes.

A line of JSON that was read into closed types and has more quotation marks had a key twice: whatever came last won,
and only the count tells. Counting is several times cheaper than reading the line a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

__all__ = ["text_counter"]

Counter: TypeAlias = Callable[[Any], int]
Varying: TypeAlias = list[tuple[str, Counter]]
"""``(path, counter)`` of each part whose count differs from value to value; an empty path is the value itself."""


def text_counter(kind: type[msgspec.Struct]) -> Counter:
    """A function that counts the texts and keys of a struct of this type. Raises ``TypeError`` for open types."""
    fixed, varying = _count(inspect.type_info(kind))
    parts = [(attrgetter(path), count) for path, count in varying]
    if len(parts) == 2:  # as a loop, this costs twice the time
        (get, one), (get_other, other) = parts
        return lambda value: fixed + one(get(value)) + other(get_other(value))
    return lambda value: fixed + sum(count(get(value)) for get, count in parts)


def _count(kind: inspect.Type) -> tuple[int, Varying]:
    """What is the same for all values of a type, and what isn't."""
    if isinstance(kind, inspect.Metadata):
        return _count(kind.type)
    if isinstance(kind, inspect.StrType):
        return 1, []
    if isinstance(kind, inspect.LiteralType) and all(isinstance(value, str) for value in kind.values):
        return 1, []
    if isinstance(kind, (inspect.IntType, inspect.FloatType, inspect.BoolType, inspect.NoneType)):
        return 0, []
    if isinstance(kind, inspect.StructType):
        return _struct(kind)
    if isinstance(kind, inspect.ListType):
        fixed, varying = _count(kind.item_type)
        inner = _whole(fixed, varying)
        return 0, [("", (lambda values: sum(map(inner, values))) if varying else lambda values: fixed * len(values))]
    if isinstance(kind, inspect.UnionType):
        return _union(kind)
    raise TypeError(f"texts in a {type(kind).__name__} can't be counted")


def _struct(kind: inspect.StructType) -> tuple[int, Varying]:
    total = len(kind.fields)
    found: Varying = []
    for field in kind.fields:
        fixed, varying = _count(field.type)
        total += fixed
        found.extend((f"{field.name}.{path}" if path else field.name, count) for path, count in varying)
    return total, found


def _union(kind: inspect.UnionType) -> tuple[int, Varying]:
    """A union of numbers has no text; one with null has those of its other type where it isn't null."""
    others = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    counts = [_count(one) for one in others]
    if all(count == (0, []) for count in counts):
        return 0, []
    if len(others) != 1:
        raise TypeError("texts in a union of several types can't be counted")
    inner = _whole(*counts[0])
    return 0, [("", lambda value: 0 if value is None else inner(value))]


def _whole(fixed: int, varying: Varying) -> Counter:
    parts = [(attrgetter(path) if path else _itself, count) for path, count in varying]
    return lambda value: fixed + sum(count(get(value)) for get, count in parts)


def _itself(value: Any) -> Any:
    return value
