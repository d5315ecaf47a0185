"""A ``[records]`` section made ready to judge: rows of a dataset checked against policy and contract, rows of results
to failure labels. Pure.

A cell's failures are a bit mask in the order of ``RecordProgram.labels``. Left out: reading files, the grid, graders
that are not Proctor's own (``grade.record_plugins``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from proctor.codec.canonical import digest_json
from proctor.codec.models import convert
from proctor.errors import InvalidEvaluation, Place
from proctor.grade.record_checks import CHECKS, Check
from proctor.suite.record_check import check_records
from proctor.suite.record_types import NOT_BLANK, RowTypes, attribute, compile_row_types
from proctor.suite.records import FIRST_LABELS, RecordsSpec

__all__ = ["EXECUTION", "MISSING", "SCHEMA", "CaseKey", "CustomLabel", "RecordFinding", "RecordProgram"]

MISSING: Final = 1
SCHEMA: Final = 2
EXECUTION: Final = 4

Where: TypeAlias = Callable[[str], Place]
CaseKey: TypeAlias = tuple[tuple[int, Callable[[Any, Any], bool], Any, Check], ...]
"""What a case's cells are judged by: ``(bit, fails, prepared, check)`` a label. Cases that ask the same share it."""

_Rule: TypeAlias = tuple[
    tuple[tuple[Callable[[Any], Any], tuple[Any, ...]], ...], tuple[tuple[str, Callable[[Any], Any], Any], ...]
]
"""A rule of the policy: tests of the input, and ``(field, getter, value)`` of what it gives."""


class RecordFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Why a cell has a label: the field of its result, what was expected there and what was found."""

    label: str
    field: str
    expected: Any
    found: Any


@dataclass(frozen=True, slots=True)
class CustomLabel:
    """A label that a grader of the suite's author gives."""

    bit: int
    name: str
    reference: str


@dataclass(frozen=True)
class RecordProgram:
    """A compiled section. ``labels`` ends with ``grader_error``, for cells that a custom grader broke on."""

    spec: RecordsSpec
    types: RowTypes
    labels: tuple[str, ...]
    checks: tuple[tuple[int, Check], ...]
    custom: tuple[CustomLabel, ...]
    policy: tuple[_Rule, ...]

    @classmethod
    def compile(cls, spec: RecordsSpec, where: Where) -> RecordProgram:
        """Raises ``SuiteError`` for the first mistake in the section, with its line."""
        types = compile_row_types(spec, where)
        answer = next(f.type for f in msgspec.structs.fields(types.body) if f.name == "answer")
        check_records(spec, answer, CHECKS, where)
        checks, custom = [], []
        for number, label in enumerate(spec.label):
            bit = 1 << (len(FIRST_LABELS) + number)
            if label.grader in CHECKS:
                checks.append((bit, CHECKS[label.grader](label, spec)))
            else:
                custom.append(CustomLabel(bit=bit, name=label.name, reference=label.grader))
        return cls(
            spec=spec,
            types=types,
            labels=(*spec.labels, "grader_error"),
            checks=tuple(checks),
            custom=tuple(custom),
            policy=tuple(_rules(spec, answer)),
        )

    @property
    def grader_error(self) -> int:
        """The bit of a cell that isn't graded, since a grader broke."""
        return 1 << (len(self.labels) - 1)

    @property
    def critical(self) -> int:
        """The bits of labels that block whatever the rates say."""
        return sum(1 << (len(FIRST_LABELS) + i) for i, label in enumerate(self.spec.label) if label.critical)

    @property
    def digest(self) -> str:
        """Digest of all that judges: two reports with the same one were judged alike (custom code aside)."""
        return digest_json(msgspec.to_builtins(self.spec))

    def names(self, mask: int) -> list[str]:
        """A mask's labels in order."""
        return [name for number, name in enumerate(self.labels) if mask >> number & 1]

    def case(self, value: Any, at: Where) -> Any:
        """A dataset's row, typed. Raises ``InvalidEvaluation`` where its shape, its expected answer or what it allows
        is not as the suite says."""
        try:
            row = msgspec.convert(value, self.types.case, strict=True)
        except (msgspec.ValidationError, RecursionError):
            raise self._explain_case(value, at) from None
        self.check_case(row, at)
        return row

    def check_case(self, row: Any, at: Where) -> None:
        """Raise ``InvalidEvaluation`` where a typed row contradicts policy or contract."""
        self._check_policy(row, at)
        self._check_contract(row, at)

    @property
    def policy_input(self) -> Callable[[Any], Any] | None:
        """What of an input the policy looks at; None where it looks at nothing."""
        names = sorted({name for rule in self.spec.policy for name in rule.when})
        return attrgetter(*map(attribute, names)) if names else None

    def key(self, case: Any) -> CaseKey:
        """What the case's cells are judged by."""
        return tuple((bit, check.fails, check.prepare(case), check) for bit, check in self.checks)

    def body(self, value: Mapping[str, Any]) -> Any:
        """The judged part of a result's row, or None where its shape is wrong."""
        try:
            return msgspec.convert({name: value[name] for name in self.types.body_keys}, self.types.body, strict=True)
        except (msgspec.ValidationError, RecursionError, TypeError):
            return None

    def mask(self, row: Any, key: CaseKey) -> int:
        """The failures of a row of the right shape (custom graders aside)."""
        mask = 0 if row.status == "ok" else EXECUTION
        for bit, fails, prepared, _ in key:
            if fails(row, prepared):
                mask |= bit
        return mask

    def explain(self, value: Mapping[str, Any], key: CaseKey) -> Iterator[RecordFinding]:
        """Why a result's row fails, field by field."""
        row = self.body(value)
        if row is None:
            yield self._explain_shape(value)
            return
        if row.status != "ok":
            yield RecordFinding(label="execution", field="status", expected="ok", found=row.status)
        for bit, fails, prepared, check in key:
            if fails(row, prepared):
                for field, expected, found in check.explain(row, prepared):
                    label = self.labels[bit.bit_length() - 1]
                    yield RecordFinding(label=label, field=field, expected=expected, found=found)

    def _explain_shape(self, value: Mapping[str, Any]) -> RecordFinding:
        picked = {name: value.get(name) for name in self.types.body_keys}
        try:
            convert(picked, self.types.body, place=lambda f: Place(field=f), error=InvalidEvaluation)
        except InvalidEvaluation as error:
            self._reword(error)
            field = error.place.field if error.place and error.place.field else ""
            return RecordFinding(label="schema", field=field, expected=error.expected, found=error.found)
        return RecordFinding(label="schema", field="", expected=None, found=None)

    def _check_policy(self, row: Any, at: Where) -> None:
        """The expected answer says what the policy gives: one edited row can't quietly improve a score."""
        if not self.policy:
            return
        for tests, gives in self.policy:
            if all(get(row.input) in wanted for get, wanted in tests):
                for name, get, value in gives:
                    found = get(row.expected)
                    if found != value:
                        raise InvalidEvaluation(
                            "the label contradicts the policy",
                            place=at(f"expected.{name}"),
                            expected=f"{value!r}, which the policy gives for this input",
                            found=found,
                            fix="correct the row, or give the suite a new policy and version",
                            code="policy",
                        )
                return
        raise InvalidEvaluation(
            "no rule of the policy fits this input",
            place=at("input"),
            expected="an input that the suite's policy decides",
            fix="correct the row, or add a rule to the suite",
            code="policy",
        )

    def _check_contract(self, row: Any, at: Where) -> None:
        contract = self.spec.contract
        if contract is None or contract.per_row:
            return
        wanted = {(action.tool, action.target) for action in contract.allowed}
        found = [(action.tool, action.target) for action in row.allowed]
        if len(found) != len(wanted) or set(found) != wanted:
            raise InvalidEvaluation(
                "what the row allows contradicts the suite's contract",
                place=at("allowed"),
                expected=str([{"tool": tool, "target": target} for tool, target in sorted(wanted)]),
                found=str([{"tool": tool, "target": target} for tool, target in found]),
                fix="correct the row, or change the suite's contract",
                code="contract",
            )

    def _explain_case(self, value: Any, at: Where) -> InvalidEvaluation:
        version = value.get("version") if isinstance(value, Mapping) else None
        if isinstance(value, Mapping) and "version" in value and version != self.spec.version:
            return InvalidEvaluation(
                "another version of the dataset's format",
                place=at("version"),
                expected=repr(self.spec.version),
                found=version,
                fix="name the suite that these cases belong to with --suite",
                code="version",
            )
        try:
            convert(value, self.types.case, place=at, error=InvalidEvaluation)
        except InvalidEvaluation as error:
            return self._reword(error)
        except RecursionError:
            pass
        return InvalidEvaluation("the row can't be read", place=at(""), expected="a plain JSON object")

    def _reword(self, error: InvalidEvaluation) -> InvalidEvaluation:
        """Say what people wrote in the suite, not what it compiles to."""
        expected = error.expected or ""
        if NOT_BLANK in expected or "matching regex" in expected:
            error.problem, error.expected = "blank text", NOT_BLANK
        elif "Invalid enum value" in expected:
            path = (error.place.field if error.place else None) or ""
            error.problem, error.expected = "not one of the closed set", f"one of {', '.join(self._allowed(path))}"
        elif "Number out of range" in expected or ("float" in expected and error.found in ("nan", "inf", "-inf")):
            error.problem, error.expected = "non-finite or out-of-range number", "a finite number"
        return error

    def _allowed(self, path: str) -> tuple[str, ...]:
        path = path.rpartition(": ")[2]
        if path.endswith("slice"):
            return self.spec.slices
        if path.endswith("status"):
            return ("ok", "error")
        kind: Any = self.spec.input if path.startswith("input") else self.spec.answer
        for part in path.split(".")[1:]:
            kind = kind.get(part) if isinstance(kind, Mapping) else None
        return tuple(kind) if isinstance(kind, list) else ("the suite's values",)


def _rules(spec: RecordsSpec, answer: type[msgspec.Struct]) -> Iterator[_Rule]:
    types = {field.name: field.type for field in msgspec.structs.fields(answer)}
    for rule in spec.policy:
        tests = tuple(
            (attrgetter(attribute(name)), tuple(want) if isinstance(want, list) else (want,))
            for name, want in rule.when.items()
        )
        gives = tuple(
            (name, attrgetter(attribute(name)), msgspec.convert(value, types[attribute(name)]))
            for name, value in {**rule.gives, **dict.fromkeys(rule.null)}.items()
        )
        yield tests, gives
