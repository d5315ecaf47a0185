"""How each planned cell ended, as one record a cell: the row of ``cells.jsonl``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from proctor.grade.model import Finding, Grade, Metric
from proctor.kinds import Outcome

__all__ = ["CellRecord", "CellUsage", "GradedCell", "cell_record", "missing_cell"]


class CellUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell spent over all its attempts. None is unknown, never 0. ``claimed_…`` is what the agent says of
    itself: None where it says nothing, or nothing that can be read."""

    calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None
    claimed_tokens: int | None = None
    claimed_usd: float | None = None


class CellRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's end. ``codes`` are its reason codes in order of first appearance, ``critical`` those that block
    whatever the rates say; ``grades`` are what each grader said of the last attempt. ``before`` and ``after`` name
    files under ``states/``."""

    case_id: str
    run: int
    slice: str
    group: str
    outcome: Outcome
    codes: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    detail: str = ""
    attempt: str | None = None
    attempts: int = 0
    ended: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    usage: CellUsage = CellUsage()
    before: str | None = None
    after: str | None = None

    @property
    def passed(self) -> bool:
        """Whether it counts for the candidate."""
        return self.outcome is Outcome.PASSED

    @property
    def cell(self) -> str:
        """``CASE/RUN``."""
        return f"{self.case_id}/{self.run}"

    @property
    def findings(self) -> list[tuple[str, Finding]]:
        """``(grader, finding)`` in order."""
        return [(grade.grader, finding) for grade in self.grades for finding in grade.findings]

    @property
    def metrics(self) -> list[Metric]:
        """All graders' metrics."""
        return [metric for grade in self.grades for metric in grade.metrics]


class GradedCell(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a cell's last attempt before its outcome is told: ``outcome`` is None where graders decide."""

    outcome: Outcome | None
    code: str | None
    detail: str
    grades: tuple[Grade, ...]


_BROKEN = frozenset({"grader_error", "unregistered_code"})


def cell_record(identity: Mapping[str, Any], graded: GradedCell, **facts: Any) -> CellRecord:
    """A record from an attempt's end and its grades. ``identity`` is case_id, run, slice and group.

    A cell passes only if the attempt ended well, at least one grader spoke, and none found anything. Where the
    attempt itself decided, a grader that couldn't make sense of what was left adds no code.
    """
    findings = [finding for grade in graded.grades for finding in grade.findings]
    if graded.outcome is not None:
        findings = [finding for finding in findings if finding.code not in _BROKEN]
    codes = _in_order([graded.code] if graded.code else [], (finding.code for finding in findings))
    outcome = graded.outcome
    if outcome is None:
        if not graded.grades or any(finding.code in _BROKEN for finding in findings):
            outcome = Outcome.GRADER_ERROR
        else:
            outcome = Outcome.FAILED if findings else Outcome.PASSED
    detail = graded.detail or next((f.detail for f in findings if f.code in _BROKEN), "")
    return CellRecord(
        outcome=outcome,
        codes=codes if codes or outcome is Outcome.PASSED else (str(outcome),),
        critical=_in_order((), (finding.code for finding in findings if finding.critical)),
        detail=detail,
        grades=graded.grades,
        **identity,
        **facts,
    )


def missing_cell(identity: Mapping[str, Any]) -> CellRecord:
    """A planned cell that nothing came back for."""
    return CellRecord(outcome=Outcome.MISSING, codes=("missing",), **identity)


def _in_order(first: Sequence[str], rest: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*first, *rest]))
