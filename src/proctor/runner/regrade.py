"""Grading a finished run again, offline: the record and the graders alone, no agent, and nothing is written.

With the suite that the run keeps, the grades and the report must come out as they were recorded; that is what
verification asks. With an edited suite they show what a change of graders, answer keys or gate would have said. What
the agent and the world were given can't be changed afterwards, so a case that differs there is refused.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from proctor.clock import utc_text
from proctor.errors import EvidenceError, Place, UsageError
from proctor.grade.host import GraderProcess
from proctor.report.model import RunFigures, build_report
from proctor.runner.floor import do_nothing_floor
from proctor.runner.grading import code_meanings, grade_cell, identity_of
from proctor.runner.observed import ObservedUse, observe
from proctor.runner.record import RunRecord
from proctor.runner.spent import run_usage
from proctor.runner.verdict import gate_policy, judge_cells
from proctor.score.cells import CellRecord, missing_cell
from proctor.suite.load import Suite, load_suite
from proctor.suite.model import Case
from proctor.worlds.remote import RemoteWorld

__all__ = ["Change", "Regraded", "changes", "kept_suite", "regrade"]

_SEEN = ("task", "input", "user", "setup", "cycles", "events", "faults")
"""The parts of a case that the agent or the world was given."""


class Regraded(NamedTuple):
    """The cells in the plan's order, the report, as ``report.json`` would hold it, and what was observed."""

    cells: tuple[CellRecord, ...]
    report: dict[str, Any]
    observed: ObservedUse


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that is graded otherwise than before. Codes and outcome say what counts; ``detail`` says why."""

    cell: str
    before: str | None
    after: str
    codes_before: tuple[str, ...]
    codes_after: tuple[str, ...]
    detail: str


def regrade(run_folder: Path, suite: Suite | None = None) -> Regraded:
    """Grade a run again from its record; ``suite`` None takes the copy that the run keeps.

    Raises ``UsageError`` where there is no run or the suite can't grade it, ``EvidenceError`` where the record
    contradicts itself, ``SuiteError`` for a mistake in the suite.
    """
    record = RunRecord(run_folder)
    kept = suite is None
    suite = suite if suite is not None else kept_suite(record)
    cases = record.cases if kept else _edited_cases(record, suite)
    policy = gate_policy(suite)
    refs = {ref.id: ref for ref in record.plan.cases}
    with (
        contextlib.closing(RemoteWorld(suite.folder, suite.spec.world)) as world,
        contextlib.closing(GraderProcess(suite.folder)) as graders,
    ):
        cells = []
        for cell in record.plan.cells():
            ref = refs[cell.case_id]
            left = record.recorded(cell)
            if left is None:
                cells.append(missing_cell(identity_of(ref, cell)))
            else:
                cells.append(grade_cell(graders, cases[cell.case_id], ref, cell, left))
        codes = code_meanings(graders)
        floor = do_nothing_floor(suite, record.plan, tuple(cases.values()), world, graders)
    usage = run_usage(record, suite.spec.budget)
    ran = suite if kept or not (record.root / "suite").is_dir() else kept_suite(record)
    observed = observe(record, ran.spec.contract, ran.spec.cycle.seconds)
    summary, decision = judge_cells(record.plan, cells, policy, suite, usage=usage.fact, observed=observed)
    figures = RunFigures(
        run_id=record.registered.runId,
        started=utc_text(record.started_ns),
        finished=utc_text(record.worked_ns),
        isolation=record.isolation.summary(),
        floor=floor,
        codes=codes,
        usage=usage.section,
    )
    return Regraded(tuple(cells), build_report(record.plan, cells, summary, decision, figures), observed)


def changes(record: RunRecord, cells: tuple[CellRecord, ...]) -> list[Change]:
    """The cells whose outcome or codes differ from the recorded ones."""
    recorded = {f"{cell.case_id}/{cell.run}": row for cell, row in record.recorded_cells.items()}
    found = []
    for cell in cells:
        old = recorded.get(cell.cell)
        if old is not None and (old.outcome, old.codes) == (cell.outcome, cell.codes):
            continue
        reasons = [cell.detail, *(finding.detail for _, finding in cell.findings)]
        found.append(
            Change(
                cell=cell.cell,
                before=None if old is None else str(old.outcome),
                after=str(cell.outcome),
                codes_before=() if old is None else old.codes,
                codes_after=cell.codes,
                detail=next((text for text in reasons if text), ""),
            )
        )
    return found


def kept_suite(record: RunRecord) -> Suite:
    """The run's own copy of the suite, which must be the planned one. Raises ``EvidenceError``."""
    folder = record.root / "suite"
    if not (folder / "suite.toml").is_file():
        raise EvidenceError(
            "the run keeps no copy of its suite",
            place=Place(str(folder)),
            expected="suite/suite.toml (written when a run starts)",
            fix="name the suite: proctor grade RUN --suite FOLDER",
            code="missing_file",
        )
    suite = load_suite(folder)
    if suite.digest != record.plan.suite_digest:
        raise EvidenceError(
            "the run's copy of its suite is not the planned suite",
            place=Place(str(folder)),
            expected=record.plan.suite_digest,
            found=suite.digest,
            code="suite_changed",
        )
    return suite


def _edited_cases(record: RunRecord, suite: Suite) -> dict[str, Case]:
    """The edited suite's cases, which may differ from those that were run in their answer key, slice and group."""
    if suite.spec.name != record.plan.suite:
        raise UsageError(
            "the run was made with another suite",
            place=Place(str(suite.folder / "suite.toml"), field="name"),
            expected=record.plan.suite,
            found=suite.spec.name,
        )
    edited = {case.id: case for case in suite.cases(record.plan.seed)}
    for name, ran in record.cases.items():
        if name not in edited:
            raise UsageError(
                f"the suite has no case {name} any more",
                place=Place(str(suite.folder)),
                expected="every case of the run",
                fix="put the case back, or run the suite anew",
            )
        for field in _SEEN:
            if getattr(edited[name], field) != getattr(ran, field):
                raise UsageError(
                    f"the case {name} is not the one that was run: its {field!r} differs",
                    place=Place(str(suite.folder), field=f"{name}.{field}"),
                    expected="what the agent and the world were given, unchanged",
                    fix="run the suite anew; only expect, answer, key, graders and gate can change afterwards",
                )
    return {name: edited[name] for name in record.cases}
