"""The graders that ``[[records.label]]`` may name. Each is a pure function of a result's row and what was prepared of
its case; only ``explain`` costs time, and it is asked for failing cells alone.

Rows are the compiled structs of ``suite.record_types``. Left out: shapes (a row of the wrong shape never gets here),
graders that are not Proctor's own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter, gt
from typing import Any, TypeAlias

import msgspec

from proctor.suite.record_types import attribute
from proctor.suite.records import LabelSpec, RecordsSpec

__all__ = ["CHECKS", "Check", "Difference"]

Row: TypeAlias = Any
Difference: TypeAlias = tuple[str, Any, Any]
"""A field of the row, what was expected there, what was found."""

_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Check:
    """``prepare(case row)`` once a case; ``fails(result row, prepared)`` a cell; ``explain`` lists the differences."""

    prepare: Callable[[Row], Any]
    fails: Callable[[Row, Any], bool]
    explain: Callable[[Row, Any], Iterable[Difference]]


def _path(field: str) -> str:
    return ".".join(attribute(part) for part in field.split("."))


def _by_field(label: LabelSpec, same: Callable[[Any, Any], bool]) -> Check:
    """A check that compares each field of the answer with the expected one."""
    getters = [(field, attrgetter(_path(field))) for field in label.fields]
    get = [getter for _, getter in getters]

    def prepare(case: Row) -> tuple[Any, ...]:
        return tuple(getter(case.expected) for getter in get)

    def fails(row: Row, wanted: tuple[Any, ...]) -> bool:
        answer = row.answer
        return not all(same(want, getter(answer)) for want, getter in zip(wanted, get, strict=True))

    def explain(row: Row, wanted: tuple[Any, ...]) -> Iterator[Difference]:
        for want, (field, getter) in zip(wanted, getters, strict=True):
            found = getter(row.answer)
            if not same(want, found):
                yield f"answer.{field}", msgspec.to_builtins(want), msgspec.to_builtins(found)

    return Check(prepare, fails, explain)


def _exact(label: LabelSpec, _: RecordsSpec) -> Check:
    """Equal in every field. One tuple comparison a cell."""
    slow = _by_field(label, lambda want, found: bool(want == found))
    get = attrgetter(*map(_path, label.fields))
    return Check(
        prepare=lambda case: (get(case.expected), slow.prepare(case)),
        fails=lambda row, prepared: get(row.answer) != prepared[0],
        explain=lambda row, prepared: slow.explain(row, prepared[1]),
    )


def _number(label: LabelSpec, _: RecordsSpec) -> Check:
    """Within ``tolerance``, or within ``relative`` of the expected value; exactly at the limit passes."""
    tolerance, relative = label.tolerance or 0.0, label.relative or 0.0

    def same(want: Any, found: Any) -> bool:
        if want is None or found is None:
            return want is found
        limit = max(tolerance, relative * abs(want))
        difference = abs(want - found)
        if abs(difference - limit) > 1e-9 * max(abs(want), abs(found), limit):
            return bool(difference < limit)
        written = [Decimal(repr(value)) for value in (want, found, tolerance, relative)]
        return abs(written[0] - written[1]) <= max(written[2], written[3] * abs(written[0]))

    return _by_field(label, same)


def _members(value: Any) -> frozenset[bytes] | None:
    return None if value is None else frozenset(map(_encode, value))


def _set(label: LabelSpec, _: RecordsSpec) -> Check:
    """The same members, in any order, however often."""
    return _by_field(label, lambda want, found: _members(want) == _members(found))


def _includes(label: LabelSpec, _: RecordsSpec) -> Check:
    """At least the expected members."""
    return _by_field(label, lambda want, found: (_members(want) or frozenset()) <= (_members(found) or frozenset()))


def _text(label: LabelSpec, _: RecordsSpec) -> Check:
    """The same text but for case, Unicode form and the amount of white space."""

    def plain(value: str | None) -> str | None:
        if value is None:
            return None
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())

    return _by_field(label, lambda want, found: plain(want) == plain(found))


def _citations(label: LabelSpec, _: RecordsSpec) -> Check:
    """Every expected source is cited, and every cited source was read: an action of the tool ``read`` on it."""
    get = attrgetter(_path(label.fields[0]))
    tool = label.read

    def fails(row: Row, wanted: frozenset[str]) -> bool:
        cited = get(row.answer) or ()
        if not wanted.issubset(cited):
            return True
        read = {action.target for action in row.actions if action.tool == tool}
        for source in cited:  # noqa: SIM110 - a generator costs twice the time
            if source not in read:
                return True
        return False

    def explain(row: Row, wanted: frozenset[str]) -> Iterator[Difference]:
        cited = get(row.answer) or ()
        if not wanted.issubset(cited):
            yield f"answer.{label.fields[0]}", sorted(wanted), list(cited)
        read = {action.target for action in row.actions if action.tool == tool}
        for source in sorted(set(cited) - read):
            yield "actions", {"tool": tool, "target": source}, msgspec.to_builtins(row.actions)

    return Check(lambda case: frozenset(get(case.expected) or ()), fails, explain)


def _allowed_actions(_: LabelSpec, __: RecordsSpec) -> Check:
    """Every action's tool and target, as a pair, are allowed."""

    def prepare(case: Row) -> frozenset[tuple[str, str]]:
        return frozenset((action.tool, action.target) for action in case.allowed)

    def fails(row: Row, allowed: frozenset[tuple[str, str]]) -> bool:
        for action in row.actions:  # noqa: SIM110 - a generator costs twice the time
            if (action.tool, action.target) not in allowed:
                return True
        return False

    def explain(row: Row, allowed: frozenset[tuple[str, str]]) -> Iterator[Difference]:
        pairs = [{"tool": tool, "target": target} for tool, target in sorted(allowed)]
        for number, action in enumerate(row.actions):
            if (action.tool, action.target) not in allowed:
                yield f"actions[{number}]", pairs, {"tool": action.tool, "target": action.target}

    return Check(prepare, fails, explain)


def _budget(label: LabelSpec, spec: RecordsSpec) -> Check:
    """No figure is over its limit; equal passes."""
    names = label.fields or tuple(spec.usage)
    getters = [attrgetter(attribute(name)) for name in names]
    fixed = None if spec.budget is None else tuple(spec.budget[name] for name in names)

    together = attrgetter(*map(attribute, names)) if len(names) > 1 else lambda usage: (getters[0](usage),)

    def prepare(case: Row) -> tuple[float, ...]:
        limits: tuple[float, ...] = fixed if fixed is not None else together(case.budget)
        return limits

    def fails(row: Row, limits: tuple[float, ...]) -> bool:
        return any(map(gt, together(row.usage), limits))

    def explain(row: Row, limits: tuple[float, ...]) -> Iterator[Difference]:
        for name, get, limit in zip(names, getters, limits, strict=True):
            if get(row.usage) > limit:
                yield f"usage.{name}", limit, get(row.usage)

    return Check(prepare, fails, explain)


CHECKS: Mapping[str, Callable[[LabelSpec, RecordsSpec], Check]] = {
    "allowed-actions": _allowed_actions,
    "budget": _budget,
    "citations": _citations,
    "exact": _exact,
    "includes": _includes,
    "number": _number,
    "set": _set,
    "text": _text,
}
