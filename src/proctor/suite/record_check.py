"""Whether a ``[records]`` section fits together: names that exist, policies that give what an answer can hold.

Raises at the first mistake, with its line. Left out: whether types exist (``suite.record_types``), the gate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import msgspec

from proctor.codec.models import nearest
from proctor.errors import Place, SuiteError
from proctor.suite.record_types import attribute
from proctor.suite.records import FIRST_LABELS, LabelSpec, RecordsSpec

__all__ = ["check_records"]

Where: TypeAlias = Callable[[str], Place]
_NEEDS_FIELDS = frozenset({"exact", "number", "set", "includes", "text", "citations"})
_RESERVED = frozenset({*FIRST_LABELS, "grader_error", "passed"})


def check_records(spec: RecordsSpec, answer: type[msgspec.Struct], graders: Iterable[str], where: Where) -> None:
    """Raise ``SuiteError`` for the first thing that doesn't fit. ``answer`` is the answer's compiled type."""
    known = sorted(graders)
    _unique(spec.slices, "records.slices", where)
    _unique([label.name for label in spec.label], "records.label", where)
    for number, label in enumerate(spec.label):
        _check_label(label, spec, known, f"records.label[{number}]", where)
    for number, rule in enumerate(spec.policy):
        path = f"records.policy[{number}]"
        for name in rule.when:
            _known(name, spec.input, f"{path}.when.{name}", "field of the input", where)
        for name in (*rule.gives, *rule.null):
            _known(name, spec.answer, f"{path}.gives.{name}", "field of the answer", where)
        _check_gives({**rule.gives, **dict.fromkeys(rule.null)}, answer, path, where)
    if spec.contract is not None and spec.contract.per_row == bool(spec.contract.allowed):
        _wrong("say what is allowed, or leave it to each row", "records.contract", where, "allowed, or per_row = true")
    for name in spec.owners:
        _known(name, FIRST_LABELS, f"records.owners.{name}", "label that every suite has", where)
    if spec.budget is not None and set(spec.budget) != set(spec.usage):
        _wrong("budget and usage name different figures", "records.budget", where, ", ".join(sorted(spec.usage)))
    if spec.traffic is not None:
        if set(spec.traffic) != set(spec.slices):
            _wrong("traffic and slices name different slices", "records.traffic", where, ", ".join(spec.slices))
        if not math.isclose(math.fsum(spec.traffic.values()), 1.0, abs_tol=1e-9):
            _wrong("the shares of traffic don't add up", "records.traffic", where, "a sum of 1")


def _check_label(label: LabelSpec, spec: RecordsSpec, known: Sequence[str], path: str, where: Where) -> None:
    if label.name in _RESERVED:
        _wrong(f"{label.name!r} is a label that Proctor gives", f"{path}.name", where, "another name")
    kind = label.grader
    if kind not in known and not kind.startswith("plugin:") and ".py:" not in kind:
        guess = nearest(kind, known)
        expected = f"{', '.join(known)}, plugin:NAME or file.py:function"
        hint = f"did you mean {guess!r}?" if guess else None
        _wrong(f"there is no grader {kind!r}", f"{path}.grader", where, expected, fix=hint)
    if kind in _NEEDS_FIELDS and not label.fields:
        _wrong(f"{kind} needs fields to look at", path, where, 'fields = ["…"]')
    if kind == "citations" and (len(label.fields) != 1 or label.read is None):
        _wrong("citations needs one field and the tool that reads", path, where, 'fields = ["…"] and read = "TOOL"')
    if kind in ("citations", "allowed-actions") and spec.contract is None:
        _wrong(f"{kind} looks at actions, and rows have none", path, where, "[records.contract]")
    if kind == "budget" and not spec.usage:
        _wrong("budget looks at usage, and rows have none", path, where, "[records.usage]")
    if kind == "number" and label.tolerance is None and label.relative is None:
        _wrong("number needs to know how near is near enough", path, where, "tolerance or relative")
    if kind != "number" and (label.tolerance is not None or label.relative is not None):
        _wrong(f"{kind} has no tolerance", path, where, 'grader = "number"')
    names: Any = spec.usage if kind == "budget" else spec.answer
    for field in label.fields:
        top, _, rest = field.partition(".")
        inner = names.get(top)
        if top not in names or (rest and not (isinstance(inner, Mapping) and rest in inner)):
            guess = nearest(top, names)
            hint = f"did you mean {guess!r}?" if guess else None
            _wrong(f"there is no field {field!r} to grade", f"{path}.fields", where, ", ".join(names), fix=hint)


def _check_gives(gives: Mapping[str, Any], answer: type[msgspec.Struct], path: str, where: Where) -> None:
    """What a rule gives must be what an answer can hold, or no row could ever agree with it."""
    types = {field.name: field.type for field in msgspec.structs.fields(answer)}
    for name, value in gives.items():
        try:
            msgspec.convert(value, types[attribute(name)], strict=True)
        except msgspec.ValidationError as error:
            _wrong(f"no answer could hold this {name}", f"{path}.gives.{name}", where, str(error), found=value)


def _unique(names: Sequence[str], path: str, where: Where) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            _wrong("named twice", f"{path}[{number}]", where, "each name once", found=name)


def _known(name: str, known: Iterable[str], path: str, what: str, where: Where) -> None:
    names = list(known)
    if name not in names:
        guess = nearest(name, names)
        hint = f"did you mean {guess!r}?" if guess else None
        _wrong(f"there is no {what} {name!r}", path, where, ", ".join(names), fix=hint)


def _wrong(
    problem: str, path: str, where: Where, expected: str, *, found: Any = None, fix: str | None = None
) -> NoReturn:
    raise SuiteError(problem, place=where(path), expected=expected, found=found, fix=fix, code="records")
