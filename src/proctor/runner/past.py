"""What an interrupted run left, and what is needed to go on with it: the plan's own suite and agent, or there is no
going on.

A cell counts as committed if its grade is in the run's log and its row in ``cells.jsonl`` is the one that the log
names; a row behind those was never acknowledged. Left out: writing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from proctor._version import __version__
from proctor.agents.resolve import AgentCommand, resolve_agent
from proctor.codec.canonical import digest_bytes
from proctor.errors import EvidenceError, Place, UsageError
from proctor.ledger.entries import CellGrade, Entry, RunEnd, RunPlan, RunVerdict, SelfTest, WorkerLog
from proctor.ledger.envelope import Record
from proctor.ledger.reader import is_open, read_log
from proctor.runner.folder import RunFolder
from proctor.score.cells import CellRecord
from proctor.suite.load import Suite, load_suite
from proctor.suite.plan import Cell, Plan

__all__ = ["Past", "Started", "planned_agent", "planned_suite", "read_past"]


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """How a run was started: ``start.json``, there while the run is open. Local paths are no part of its record."""

    suite: str
    agent: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class Past:
    """The run's log so far; nothing for a run that begins."""

    entries: tuple[Record, ...] = ()
    cells: Mapping[Cell, CellRecord] = field(default_factory=dict)
    rows: tuple[bytes, ...] = ()

    def all(self, kind: type[Entry]) -> list[Record]:
        """Entries of one kind."""
        return [record for record in self.entries if isinstance(record.entry, kind)]

    @property
    def run_id(self) -> str | None:
        """The run's id; None where no plan was registered."""
        plan = next((r.entry for r in self.entries if isinstance(r.entry, RunPlan)), None)
        return None if plan is None else plan.runId

    @property
    def is_ended(self) -> bool:
        """Whether nothing can be added but the log's close."""
        return bool(self.entries) and isinstance(self.entries[-1].entry, RunEnd)

    @property
    def isolation_digests(self) -> list[str]:
        """Digests of the isolation records that the log names, in order."""
        return [r.entry.isolationDigest for r in self.entries if isinstance(r.entry, SelfTest)]

    def worker(self, origin: str) -> tuple[WorkerLog | None, int]:
        """The last entry about a worker's log, and its time."""
        found = [(r.entry, r.t_ns) for r in self.entries if isinstance(r.entry, WorkerLog) and r.entry.origin == origin]
        return found[-1] if found else (None, 0)

    @property
    def report_digest(self) -> str | None:
        """The digest of the report that was made last."""
        return next((r.entry.reportDigest for r in reversed(self.entries) if isinstance(r.entry, RunVerdict)), None)


def read_past(folder: RunFolder) -> tuple[Plan, Past]:
    """What the folder holds. Raises ``UsageError`` where no run was begun, ``EvidenceError`` where the record
    contradicts itself."""
    root = folder.root
    if not (root / "plan.json").is_file():
        raise UsageError(
            "there is no run to resume here",
            place=Place(str(root)),
            expected="a run's folder, with plan.json and ledger/",
            fix="proctor run prints the folder that it writes",
        )
    entries = tuple(_whole(folder.ledger))
    if not entries or not isinstance(entries[0].entry, RunPlan):
        raise UsageError(
            "the run ended before its plan was registered: nothing was run",
            place=Place(str(root)),
            fix="remove the folder and start the run anew",
            code="nothing_to_resume",
        )
    data = (root / "plan.json").read_bytes()
    if digest_bytes(data) != entries[0].entry.planDigest:
        raise EvidenceError(
            "the plan is not the one that was registered",
            place=Place(str(root / "plan.json")),
            expected=entries[0].entry.planDigest,
            found=digest_bytes(data),
            code="plan_changed",
        )
    plan = msgspec.json.decode(data, type=Plan)
    if plan.proctor != __version__:
        raise UsageError(
            "the run was started by another version of Proctor",
            place=Place(str(root)),
            expected=plan.proctor,
            found=__version__,
            fix="resume it with that version, or start a new run",
        )
    rows = _committed_rows(root / "cells.jsonl", [r.entry for r in entries if isinstance(r.entry, CellGrade)])
    cells = {}
    for row in rows:
        record = msgspec.json.decode(row, type=CellRecord)
        cells[Cell(record.case_id, record.run)] = record
    return plan, Past(entries=entries, cells=cells, rows=tuple(rows))


def _whole(ledger: Path) -> Iterator[Record]:
    """The whole entries of a log; opening an open one looks into what stands behind them."""
    if not is_open(ledger):
        if ledger.is_dir() and (ledger / "checkpoint").exists():
            yield from read_log(ledger)
        return
    with contextlib.suppress(EvidenceError):
        yield from read_log(ledger)


def _committed_rows(path: Path, grades: Iterable[CellGrade]) -> list[bytes]:
    rows = path.read_bytes().split(b"\n") if path.exists() else []
    committed = []
    for line, grade in enumerate(grades, 1):
        found = digest_bytes(rows[line - 1]) if line <= len(rows) else None
        if found != grade.gradeDigest:
            raise EvidenceError(
                f"the row of cell {grade.caseId}/{grade.run} is not the one in the log",
                place=Place(str(path), line),
                expected=grade.gradeDigest,
                found=found or "no row",
                fix="nothing was changed; restore the file from a copy, or start a new run",
                code="grade_differs",
            )
        committed.append(rows[line - 1])
    return committed


def planned_suite(plan: Plan, folder: RunFolder, given: str | None) -> Suite:
    """The suite that the run was started with, or the one given; it must be the planned one."""
    started = _started(folder)
    name = given or (started.suite if started else None)
    if name is None:
        raise UsageError(
            "the run does not say where its suite was",
            place=Place(str(folder.root)),
            fix=f"name suite and agent: proctor run SUITE --agent AGENT --resume {folder.root}",
        )
    suite = load_suite(name)
    if suite.digest != plan.suite_digest:
        raise UsageError(
            "the suite is not the one that the run was planned with",
            place=Place(str(suite.folder)),
            expected=f"{plan.suite} {plan.suite_version}, {plan.suite_digest}",
            found=f"{suite.spec.name} {suite.spec.version}, {suite.digest}",
            fix=f"put it back as it was (the run keeps a copy in {folder.root / 'suite'}), or start a new run",
            code="other_suite",
        )
    return suite


def planned_agent(plan: Plan, folder: RunFolder, suite: Suite, given: str | None) -> AgentCommand:
    """The agent that the run was started with, or the one given; it must be the planned candidate."""
    started = _started(folder)
    where = Path(started.folder) if started and given is None else Path.cwd()
    name = given or plan.candidate.agent
    command = resolve_agent(name, shipped=suite.agents, shipped_folder=suite.agents_folder, folder=where)
    if command.candidate != plan.candidate:
        raise UsageError(
            "the agent is not the one that the run was planned with",
            place=Place(str(folder.root)),
            expected=f"{plan.candidate.agent}, {plan.candidate.digest}",
            found=f"{command.candidate.agent}, {command.candidate.digest}",
            fix="put it back as it was, or start a new run",
            code="other_agent",
        )
    return command


def _started(folder: RunFolder) -> Started | None:
    path = folder.root / "start.json"
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Started)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"how the run was started can't be read: {error}",
            place=Place(str(path)),
            fix=f"remove the file and name suite and agent: proctor run SUITE --agent AGENT --resume {folder.root}",
        ) from None
