"""A finished run's record, read back from its folder: the plan, the cases, and what each attempt left.

Everything comes from the record itself (``plan.json``, ``cases.jsonl``, the workers' logs, texts and states), never
from the report or from the recorded grades. Left out: whether the record is intact (``ledger.verify``), and grading
(``runner.regrade``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.codec.canonical import digest_bytes
from proctor.codec.json_strict import parse_json
from proctor.codec.jsonl import read_jsonl
from proctor.errors import EvidenceError, Place, UsageError
from proctor.kinds import Outcome
from proctor.ledger.entries import (
    AgentEnd,
    AttemptEnd,
    AttemptStart,
    CallEntry,
    Decision,
    Entry,
    FinalState,
    Finish,
    RunPlan,
    RunVerdict,
    WorkerLog,
    WorldReset,
)
from proctor.ledger.envelope import Record
from proctor.ledger.reader import read_log
from proctor.ledger.texts import TextReader
from proctor.ledger.trace import Step, steps_of
from proctor.runner.claims import cell_usage, claims_in
from proctor.runner.folder import RunFolder
from proctor.runner.grading import Recorded
from proctor.sandbox.tiers import Isolation
from proctor.score.cells import CellRecord
from proctor.suite.load import parse_case
from proctor.suite.model import Case
from proctor.suite.plan import Cell, Plan, case_digest
from proctor.usage.claims import Claim

__all__ = ["AttemptRecord", "RunRecord"]

T = TypeVar("T", bound=Entry)
_PERMITTED = frozenset({Decision.ALLOWED, Decision.BAD_ARGUMENTS})


@dataclass
class AttemptRecord:
    """One attempt's entries, in the order of its worker's log: ``(number, ns, entry)``."""

    start: AttemptStart
    entries: list[Record] = field(default_factory=list)

    def all(self, kind: type[T]) -> list[T]:
        """The entries of one kind."""
        return [record.entry for record in self.entries if isinstance(record.entry, kind)]

    def last(self, kind: type[T]) -> T | None:
        """The last entry of one kind, if there is one."""
        return next(reversed(self.all(kind)), None)

    @property
    def end(self) -> AttemptEnd | None:
        """Its end; None where a crash of the supervisor cut it off."""
        return self.last(AttemptEnd)

    @property
    def usage(self) -> tuple[int, int]:
        """Calls and milliseconds; of an attempt without an end, as far as the record goes."""
        end = self.end
        if end is not None:
            return end.calls, end.elapsedMs
        calls = sum(entry.decision in _PERMITTED for entry in self.all(CallEntry))
        return calls, (self.entries[-1].t_ns - self.entries[0].t_ns) // 1_000_000


class RunRecord:
    """The record under a run's folder. Raises ``UsageError`` where there is no run, ``EvidenceError`` where the
    record contradicts itself."""

    def __init__(self, root: Path) -> None:
        self.folder = RunFolder(root)
        if not (root / "plan.json").is_file() or not self.folder.ledger.is_dir():
            raise UsageError(
                "there is no run here",
                place=Place(str(root)),
                expected="a run's folder, with plan.json and ledger/",
                fix="proctor run prints the folder that it wrote",
            )
        self._texts = TextReader(root / "texts")

    @property
    def root(self) -> Path:
        """The run's folder."""
        return self.folder.root

    @cached_property
    def plan(self) -> Plan:
        """The plan, whose digest must be the registered one."""
        data = (self.root / "plan.json").read_bytes()
        registered = self.registered.planDigest
        if digest_bytes(data) != registered:
            raise EvidenceError(
                "the plan is not the one that was registered",
                place=Place(str(self.root / "plan.json")),
                expected=registered,
                found=digest_bytes(data),
                code="plan_changed",
            )
        return _read(self.root / "plan.json", Plan)

    @cached_property
    def isolation(self) -> Isolation:
        """What isolation held."""
        return _read(self.root / "isolation.json", Isolation)

    @cached_property
    def registered(self) -> RunPlan:
        """The log's first entry."""
        first = self.log[0].entry if self.log else None
        if not isinstance(first, RunPlan):
            raise EvidenceError(
                "the run's log doesn't start with a plan",
                place=Place(str(self.folder.ledger), field="entry 0"),
                expected="run.plan",
                found=None if first is None else first.kind,
                code="no_plan",
            )
        return first

    @cached_property
    def log(self) -> list[Record]:
        """The run's own log."""
        return list(read_log(self.folder.ledger))

    @property
    def started_ns(self) -> int:
        """When the plan was registered."""
        return self.log[0].t_ns

    @property
    def worked_ns(self) -> int:
        """When the last worker's log was closed; for a run that never got there, the time of its last entry."""
        return next((r.t_ns for r in reversed(self.log) if isinstance(r.entry, WorkerLog)), self.log[-1].t_ns)

    @property
    def recorded_verdict(self) -> str | None:
        """The verdict as it was given when the run was made; None where it never came to one."""
        return next((r.entry.verdict for r in reversed(self.log) if isinstance(r.entry, RunVerdict)), None)

    @cached_property
    def cases(self) -> dict[str, Case]:
        """The planned cases as they were run, each with the digest that the plan gives."""
        path = self.root / "cases.jsonl"
        rows = read_jsonl(path)
        cases = [parse_case(row, Place(str(path), line)) for line, row in rows]
        if [case.id for case in cases] != [ref.id for ref in self.plan.cases]:
            raise EvidenceError(
                "the cases are not the plan's",
                place=Place(str(path)),
                expected=f"the {len(self.plan.cases)} cases of plan.json in order",
                found=f"{len(cases)} cases",
                code="cases_changed",
            )
        for line, (case, ref) in enumerate(zip(cases, self.plan.cases, strict=True), 1):
            if case_digest(case) != ref.digest:
                raise EvidenceError(
                    f"the case {case.id} is not the planned one",
                    place=Place(str(path), line),
                    expected=ref.digest,
                    found=case_digest(case),
                    code="cases_changed",
                )
        return {case.id: case for case in cases}

    @cached_property
    def attempts(self) -> dict[Cell, list[AttemptRecord]]:
        """All attempts at each cell, in the order they were made."""
        by_name: dict[str, AttemptRecord] = {}
        for folder in sorted(self.folder.ledger.glob("workers/*")):
            for record in read_log(folder):
                name = getattr(record.entry, "attempt", None)
                if isinstance(record.entry, AttemptStart):
                    by_name[record.entry.attempt] = AttemptRecord(record.entry)
                if name in by_name:
                    by_name[name].entries.append(record)
        cells: dict[Cell, list[AttemptRecord]] = {}
        for attempt in sorted(by_name.values(), key=lambda a: a.start.retry):
            cells.setdefault(Cell(attempt.start.caseId, attempt.start.run), []).append(attempt)
        return cells

    @cached_property
    def recorded_cells(self) -> dict[Cell, CellRecord]:
        """The grades as they were given when the run was made: ``cells.jsonl``."""
        path = self.root / "cells.jsonl"
        if not path.exists():
            return {}
        rows = (_convert(row, CellRecord, Place(str(path), line)) for line, row in read_jsonl(path))
        return {Cell(row.case_id, row.run): row for row in rows}

    def claims(self, cell: Cell) -> list[Claim]:
        """What the agent says it spent on a cell, over all its attempts."""
        entries = (record.entry for attempt in self.attempts.get(cell, ()) for record in attempt.entries)
        return claims_in(entries, self._texts.get)

    def text(self, reference: str) -> bytes:
        """A text by its commitment. Raises ``EvidenceError`` where it is withheld."""
        return self._texts.get(reference)

    def steps(self, attempt: AttemptRecord) -> tuple[Step, ...]:
        """The attempt's trace."""
        return tuple(step for _, step in steps_of(attempt.entries, self._texts.get))

    def recorded(self, cell: Cell) -> Recorded | None:
        """What the cell's last attempt left, ready to be graded; None where no attempt came to an end. Attempts that
        a crash of the supervisor cut off count, with what they spent."""
        attempts = self.attempts.get(cell, [])
        last, end = next(((a, a.end) for a in reversed(attempts) if a.end is not None), (None, None))
        if last is None or end is None:
            return None
        calls, milliseconds = (sum(spent) for spent in zip(*(a.usage for a in attempts), strict=True))
        ended = last.all(AgentEnd)
        answers = {entry.cycle: parse_json(self._texts.get(entry.answerRef)) for entry in last.all(Finish)}
        reset, final = last.last(WorldReset), last.last(FinalState)
        before = None if reset is None else self._state(reset.bytesSha256, must=final is not None)
        after = None if final is None else self._state(final.fileSha256, must=True)
        return Recorded(
            attempt=last.start.attempt,
            attempts=len(attempts),
            outcome=None if end.outcome is None else Outcome(end.outcome),
            code=end.code,
            detail="" if end.detailRef is None else self._texts.get(end.detailRef).decode(),
            steps=self.steps(last),
            before=before,
            after=after,
            before_digest=reset.bytesSha256 if reset is not None and before is not None else None,
            after_digest=None if final is None else final.fileSha256,
            answers=[answers.get(entry.cycle) for entry in ended],
            ended=[entry.reason for entry in ended],
            usage=cell_usage(calls=calls, elapsed_ms=milliseconds, claims=self.claims(cell), isolation=self.isolation),
        )

    def _state(self, digest: str, *, must: bool) -> bytes | None:
        """A kept database; where the attempt broke before its end, the world may never have been read."""
        path = self.root / "states" / f"{digest}.sqlite"
        if not path.is_file() and not must:
            return None
        try:
            data = path.read_bytes()
        except OSError as error:
            raise EvidenceError(
                f"a recorded state can't be read: {error.strerror}", place=Place(str(path)), code="missing_file"
            ) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise EvidenceError(
                "a recorded state was changed",
                place=Place(str(path)),
                expected=digest,
                found=hashlib.sha256(data).hexdigest(),
                code="state_changed",
            )
        return data


V = TypeVar("V")


def _read(path: Path, model: type[V]) -> V:
    return _convert(parse_json(path.read_bytes(), file=str(path)), model, Place(str(path)))


def _convert(value: Any, model: type[V], place: Place) -> V:
    try:
        return msgspec.convert(value, model)
    except msgspec.ValidationError as error:
        raise EvidenceError(
            f"the file is not what a run writes: {error}", place=place, expected=model.__name__, code="bad_file"
        ) from None
