"""From an attempt's record to the cell's record: evidence to the grader process, grades back.

A grader that hangs or dies costs its cell (``grader_error``), not the run. Used the same way while running and when a
finished run is graded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.errors import InfrastructureError, SuiteError
from proctor.grade.host import EvidenceMessage, GraderProcess
from proctor.grade.model import Finding, Grade
from proctor.grade.registry import REASONS
from proctor.ledger.trace import Step
from proctor.score.cells import CellRecord, CellUsage, GradedCell, cell_record
from proctor.suite.model import Case
from proctor.suite.plan import CaseRef, Cell

__all__ = ["Recorded", "code_meanings", "grade_cell", "identity_of"]


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt's record says, from a live attempt or from a finished run's folder."""

    attempt: str
    attempts: int
    outcome: Any
    code: str | None
    detail: str
    steps: Sequence[Step]
    before: bytes | None
    after: bytes | None
    before_digest: str | None
    after_digest: str | None
    answers: Sequence[Any]
    ended: Sequence[str]
    usage: CellUsage


def identity_of(ref: CaseRef, cell: Cell) -> dict[str, Any]:
    """What names a cell in its record."""
    return {"case_id": cell.case_id, "run": cell.run, "slice": ref.slice, "group": ref.group}


def code_meanings(graders: GraderProcess) -> dict[str, str]:
    """What every code means: the built-in ones, and those that the suite's graders declare."""
    meanings = {code: reason.meaning for code, reason in REASONS.items()}
    return meanings | {entry.code: entry.meaning for entry in graders.codes}


def grade_cell(graders: GraderProcess, case: Case, ref: CaseRef, cell: Cell, recorded: Recorded) -> CellRecord:
    """The cell's end. Graders speak wherever there is a final state, for the figures; they decide only where the
    attempt itself didn't."""
    grades: tuple[Grade, ...] = ()
    if recorded.before is not None and recorded.after is not None:
        grades = _grades(graders, case, recorded, recorded.before, recorded.after)
    return cell_record(
        identity_of(ref, cell),
        GradedCell(outcome=recorded.outcome, code=recorded.code, detail=recorded.detail, grades=grades),
        attempt=recorded.attempt,
        attempts=recorded.attempts,
        ended=tuple(recorded.ended),
        usage=recorded.usage,
        before=recorded.before_digest,
        after=recorded.after_digest,
    )


def _grades(graders: GraderProcess, case: Case, recorded: Recorded, before: bytes, after: bytes) -> tuple[Grade, ...]:
    message = EvidenceMessage(
        case=case.public(),
        key=case.key,
        expect=msgspec.to_builtins(case.expect),
        expected_answer=case.answer,
        before=before,
        after=after,
        steps=recorded.steps,
        answer=recorded.answers[-1] if recorded.answers else None,
        answers=recorded.answers,
        ended=recorded.ended,
        usage=msgspec.to_builtins(recorded.usage),
    )
    try:
        return graders.grade(message)
    except (InfrastructureError, SuiteError) as error:
        return (Grade(grader="graders", findings=(Finding(code="grader_error", detail=error.message[:500]),)),)
