"""One cell to its end: an attempt, another where infrastructure failed, then the grade; committed before it counts.

A cell that an earlier process left unfinished goes on from its record. An attempt that had ended is graded, never made
again, whatever it came to. One that was interrupted stays in the record as a start without an end: it counts as an
attempt of the cell with what it spent, but not against the plan's cap on retries, since neither the agent nor the
world failed. Left out: how an attempt runs (``runner.attempt``).
"""

from __future__ import annotations

from collections.abc import Sequence

from proctor.clock import Clock
from proctor.errors import UsageError
from proctor.gateway.recorder import Recorder
from proctor.kinds import Outcome
from proctor.ledger.entries import CellGrade
from proctor.ledger.writer import LogWriter
from proctor.runner.attempt import Attempt, run_attempt
from proctor.runner.claims import cell_usage
from proctor.runner.folder import RunFolder
from proctor.runner.grading import Recorded, grade_cell
from proctor.runner.record import AttemptRecord, RunRecord
from proctor.runner.setting import Setting
from proctor.score.cells import CellRecord
from proctor.suite.plan import Cell

__all__ = ["CellRunner"]


class CellRunner:
    """Runs cells one after another. ``earlier`` are the attempts at each cell that the record holds already."""

    def __init__(
        self,
        setting: Setting,
        folder: RunFolder,
        run_id: str,
        *,
        log: LogWriter,
        recorder: Recorder,
        clock: Clock,
        earlier: dict[Cell, list[AttemptRecord]],
    ) -> None:
        self._setting, self._folder, self._run_id = setting, folder, run_id
        self._log, self._recorder, self._clock = log, recorder, clock
        self._earlier = earlier
        self._refs = {ref.id: ref for ref in setting.plan.cases}

    def run(self, cell: Cell) -> CellRecord:
        """Run, grade and commit a cell."""
        earlier = self._earlier.get(cell, [])
        attempts = self._attempts(cell, earlier)
        recorded = self._recorded_again(cell) if earlier else self._recorded(cell, attempts)
        case, ref = self._setting.cases[cell.case_id], self._refs[cell.case_id]
        record = grade_cell(self._setting.graders, case, ref, cell, recorded)
        digest = self._folder.append_cell(record)
        self._log.append(
            CellGrade(
                attempt=record.attempt,
                caseId=cell.case_id,
                codes=record.codes,
                gradeDigest=digest,
                outcome=str(record.outcome),
                run=cell.run,
            )
        )
        self._log.commit()
        return record

    def _attempts(self, cell: Cell, earlier: Sequence[AttemptRecord]) -> list[Attempt]:
        """The attempts that are still due, until one ends otherwise than by a failure of infrastructure."""
        ends = [attempt.end.outcome for attempt in earlier if attempt.end is not None]
        n_failed = ends.count(str(Outcome.INFRA_ERROR))
        made: list[Attempt] = []
        if n_failed < len(ends):
            return made
        while n_failed <= self._setting.plan.infrastructure_retries:
            attempt = self._attempt(cell, len(earlier) + len(made))
            made.append(attempt)
            if attempt.outcome is not Outcome.INFRA_ERROR:
                break
            n_failed += 1
            self._setting.world.restart()
        return made

    def _attempt(self, cell: Cell, retry: int) -> Attempt:
        setting = self._setting
        if setting.agents is None:
            raise UsageError("no agent is named for the cells that are left", expected="--agent AGENT")
        return run_attempt(
            setting.suite,
            setting.cases[cell.case_id],
            cell,
            retry=retry,
            world=setting.world,
            recorder=self._recorder,
            folder=self._folder,
            command=setting.agents.command,
            isolation=setting.agents.isolated,
            clock=self._clock,
            world_seed=setting.plan.world_seed(cell),
        )

    def _recorded(self, cell: Cell, attempts: Sequence[Attempt]) -> Recorded:
        """What this process's own attempts left, and their trace."""
        self._folder.write_trace(self._run_id, cell, ((a.name, a.steps) for a in attempts))
        last = attempts[-1]
        return Recorded(
            attempt=last.name,
            attempts=len(attempts),
            outcome=last.outcome,
            code=last.code,
            detail=last.detail,
            steps=last.steps,
            before=None if last.before is None else self._folder.read_state(last.before),
            after=None if last.after is None else self._folder.read_state(last.after),
            before_digest=last.before,
            after_digest=last.after,
            answers=last.answers,
            ended=last.ended,
            usage=cell_usage(
                calls=sum(a.calls for a in attempts),
                elapsed_ms=sum(a.elapsed_ms for a in attempts),
                claims=[claim for a in attempts for claim in a.claims],
                isolation=self._setting.isolation,
            ),
        )

    def _recorded_again(self, cell: Cell) -> Recorded:
        """What all attempts left, from the record, where not all of them were this process's own."""
        record = RunRecord(self._folder.root)
        ended = [attempt for attempt in record.attempts[cell] if attempt.end is not None]
        self._folder.write_trace(self._run_id, cell, [(a.start.attempt, record.steps(a)) for a in ended])
        recorded = record.recorded(cell)
        if recorded is None:
            raise UsageError(f"no attempt at cell {cell} came to an end")
        return recorded
