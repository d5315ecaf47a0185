"""A whole run: plan, cells, grades, gate, report, and a ledger that is closed at the end.

The order is fixed: the plan is registered before the first cell; an attempt before it starts; a cell's record is on
the disk before its result counts; the report's digest is in the log before the log closes. Left out: how an attempt
runs (``runner.attempt``), what a report looks like (``report``).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proctor.agents.resolve import AgentCommand, resolve_agent
from proctor.agents.stdio import AgentLimits
from proctor.clock import Clock, SystemClock, SystemRandomness, utc_text
from proctor.codec.canonical import digest_bytes
from proctor.errors import IsolationError, Place
from proctor.gate.model import Policy
from proctor.gateway.recorder import Recorder
from proctor.grade.host import GraderProcess
from proctor.kinds import Outcome, Verdict
from proctor.ledger.closing import close_run
from proctor.ledger.entries import CellGrade, Entry, PlanRegistered, RunClosed, RunPlan, RunVerdict, SelfTest, WorkerLog
from proctor.ledger.keys import Signer, home_folder, install_signer
from proctor.ledger.texts import TextStore
from proctor.ledger.workspace import add_to_workspace
from proctor.ledger.writer import LogWriter
from proctor.report.formats import renderings
from proctor.report.model import RunFigures, build_report
from proctor.runner.attempt import Attempt, run_attempt
from proctor.runner.claims import cell_usage
from proctor.runner.floor import do_nothing_floor
from proctor.runner.folder import RunFolder
from proctor.runner.grading import Recorded, code_meanings, grade_cell
from proctor.runner.record import RunRecord
from proctor.runner.spent import run_usage
from proctor.runner.verdict import gate_policy, judge_cells
from proctor.runner.workspace import believe_own_key
from proctor.sandbox.confine import Confinement
from proctor.sandbox.tiers import IsolatedAgents, Tier, isolate
from proctor.score.cells import CellRecord
from proctor.score.summary import Rate
from proctor.suite.load import Suite, load_suite
from proctor.suite.model import Case
from proctor.suite.plan import CaseRef, Cell, Plan, Selection, make_plan
from proctor.worlds.remote import RemoteWorld

__all__ = ["FinishedRun", "Progress", "RunRequest", "run_suite"]

_JSON = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What was asked for. ``out`` is the run's folder; None makes one under ``runs/``."""

    suite: str
    agent: str
    runs: int | None = None
    seed: int = 1
    out: Path | None = None
    isolation: Tier | None = None
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A finished run: its folder, its report as values, and the verdict."""

    folder: Path
    report: dict[str, Any]
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands: a cell has just ended."""

    record: CellRecord
    done: int
    planned: int


def run_suite(
    request: RunRequest, *, on_cell: Callable[[Progress], None] = lambda _: None, clock: Clock | None = None
) -> FinishedRun:
    """Run an agent over a suite's cells. Raises ``ProctorError`` where there can be no run; an agent's failure is
    part of the result."""
    clock = clock or SystemClock()
    suite = load_suite(request.suite)
    policy = gate_policy(suite)
    command = resolve_agent(request.agent, shipped=suite.agents, shipped_folder=suite.agents_folder, folder=Path.cwd())
    run_id = _run_id(clock.now_ns())
    with contextlib.ExitStack() as resources:
        world = resources.enter_context(contextlib.closing(RemoteWorld(suite.folder, suite.spec.world)))
        graders = resources.enter_context(contextlib.closing(GraderProcess(suite.folder)))
        cases = suite.cases(request.seed)
        plan = make_plan(
            suite,
            cases,
            command.candidate,
            gate_digest=policy.digest,
            seed=request.seed,
            runs=request.runs,
            isolation=request.isolation,
            selection=request.selection,
        )
        root = request.out or Path("runs") / run_id
        isolation = resources.enter_context(contextlib.closing(_isolate(plan, suite, command, root)))
        # Before anything is written or any agent started: the suite's code loads, and every case fits its world.
        codes = code_meanings(graders)
        floor = do_nothing_floor(suite, plan, cases, world, graders)
        folder = RunFolder.create(root)
        run = _Run(suite, plan, cases, policy, command, isolation, folder, run_id, world, graders, clock)
        return run.execute(floor, codes, on_cell)


def _isolate(plan: Plan, suite: Suite, command: AgentCommand, root: Path) -> IsolatedAgents:
    """The plan's tier for this agent: it sees its own folder, never the suite's keys, the runs or the signing key."""
    hidden = (suite.folder.resolve(), root.absolute().parent.resolve(), home_folder(os.environ).resolve())
    if plan.isolation != "T1" and command.folder.resolve() in hidden:
        raise IsolationError(
            "the agent's folder holds what the agent must not see",
            place=Place(str(command.folder)),
            expected="a folder of the agent's own, apart from the suite and the runs",
            fix="move the agent, or start it from another folder",
            code="tier_unmet",
        )
    limits = AgentLimits()
    confinement = Confinement(hidden=hidden, environment={"PATH": command.environment["PATH"]})
    return isolate(plan.isolation, confinement, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes)


def _run_id(started_ns: int) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(started_ns // 1_000_000_000))
    return f"{stamp}-{SystemRandomness().bytes(3).hex()}"


class _Run:
    """A run under way."""

    def __init__(  # noqa: PLR0917 - made in one place, from what run_suite worked out in this order
        self,
        suite: Suite,
        plan: Plan,
        cases: tuple[Case, ...],
        policy: Policy,
        command: AgentCommand,
        isolation: IsolatedAgents,
        folder: RunFolder,
        run_id: str,
        world: RemoteWorld,
        graders: GraderProcess,
        clock: Clock,
    ) -> None:
        self._suite, self._plan, self._policy = suite, plan, policy
        self._cases = {case.id: case for case in cases}
        self._command, self._isolation, self._clock = command, isolation, clock
        self._folder, self._run_id = folder, run_id
        self._world, self._graders = world, graders
        self._refs: Mapping[str, CaseRef] = {ref.id: ref for ref in plan.cases}
        self._records: list[CellRecord] = []

    def execute(self, floor: Rate | None, codes: Mapping[str, str], on_cell: Callable[[Progress], None]) -> FinishedRun:
        """All of it, in order. The report's times are the log's own, so that it can be made again from the record."""
        signer = install_signer(os.environ)
        believe_own_key(self._folder.root.absolute().parent, signer)
        with self._open_log(signer, "run", self._folder.ledger) as log:
            started_ns = self._register(log)
            registered = PlanRegistered(origin=log.origin, planDigest=self._plan.digest, runId=self._run_id)
            self._tell_workspace(registered, signer)
            with (
                self._open_log(signer, "worker/00", self._folder.worker_log(0)) as worker_log,
                TextStore.create(self._folder.worker_texts(0)) as texts,
            ):
                log.append(WorkerLog(origin=worker_log.origin, rootSha256=worker_log.root.hex(), size=0))
                log.commit()
                self._work(log, Recorder(worker_log, texts), on_cell)
                texts.close()
                closed = worker_log.close()
            log.append(WorkerLog(origin=closed.origin, rootSha256=closed.root.hex(), size=closed.size))
            report = self._report(floor, codes, started_ns, log.last_ns)
            self._tell_workspace(self._close(log, report), signer)
        return FinishedRun(folder=self._folder.root, report=report, verdict=Verdict[report["verdict"]])

    def _open_log(self, signer: Signer, name: str, folder: Path) -> LogWriter:
        origin = signer.origin("run", self._run_id) if name == "run" else signer.origin("run", self._run_id, name)
        return LogWriter.create(folder, origin=origin, signer=signer, clock=self._clock)

    def _register(self, log: LogWriter) -> int:
        """Register the plan before anything runs; when that was, in ns."""
        data = self._plan.to_bytes()
        self._folder.write("plan.json", data)
        self._folder.write_json("isolation.json", self._isolation.record)
        log.append(RunPlan(cells=self._plan.size, planDigest=digest_bytes(data), runId=self._run_id))
        started_ns = log.last_ns
        isolation = (self._folder.root / "isolation.json").read_bytes()
        log.append(SelfTest(isolationDigest=digest_bytes(isolation), tier=self._isolation.record.tier))
        log.commit()
        return started_ns

    def _work(self, log: LogWriter, recorder: Recorder, on_cell: Callable[[Progress], None]) -> None:
        for cell in self._plan.cells():
            record = self._run_cell(cell, log, recorder)
            self._records.append(record)
            on_cell(Progress(record=record, done=len(self._records), planned=self._plan.size))

    def _run_cell(self, cell: Cell, log: LogWriter, recorder: Recorder) -> CellRecord:
        """Run a cell to its end, again where infrastructure failed."""
        case, ref = self._cases[cell.case_id], self._refs[cell.case_id]
        attempts: list[Attempt] = []
        while True:
            attempt = run_attempt(
                self._suite,
                case,
                cell,
                retry=len(attempts),
                world=self._world,
                recorder=recorder,
                folder=self._folder,
                command=self._command,
                isolation=self._isolation,
                clock=self._clock,
                world_seed=self._plan.world_seed(cell),
            )
            attempts.append(attempt)
            if attempt.outcome is not Outcome.INFRA_ERROR:
                break
            self._world.restart()
            if len(attempts) > self._plan.infrastructure_retries:
                break
        self._folder.write_trace(self._run_id, cell, ((a.name, a.steps) for a in attempts))
        record = grade_cell(self._graders, case, ref, cell, self._recorded(attempts))
        digest = self._folder.append_cell(record)
        log.append(
            CellGrade(
                attempt=record.attempt,
                caseId=cell.case_id,
                codes=record.codes,
                gradeDigest=digest,
                outcome=str(record.outcome),
                run=cell.run,
            )
        )
        log.commit()
        return record

    def _recorded(self, attempts: list[Attempt]) -> Recorded:
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
                isolation=self._isolation.record,
            ),
        )

    def _report(
        self, floor: Rate | None, codes: Mapping[str, str], started_ns: int, finished_ns: int
    ) -> dict[str, Any]:
        usage = run_usage(RunRecord(self._folder.root), self._suite.spec.budget)
        self._folder.write_json("usage.manifest.json", usage.manifest)
        self._folder.write_json("usage.records.json", usage.records)
        summary, decision = judge_cells(self._plan, self._records, self._policy, self._suite, usage=usage.fact)
        figures = RunFigures(
            run_id=self._run_id,
            started=utc_text(started_ns),
            finished=utc_text(finished_ns),
            isolation=self._isolation.record.summary(),
            floor=floor,
            codes=codes,
            usage=usage.section,
        )
        return build_report(self._plan, self._records, summary, decision, figures)

    def _tell_workspace(self, entry: Entry, signer: Signer) -> None:
        add_to_workspace(self._folder.root.absolute().parent, entry, signer=signer, clock=self._clock)

    def _close(self, log: LogWriter, report: dict[str, Any]) -> RunClosed:
        self._folder.copy_suite(self._suite, b"".join(_JSON(self._cases[ref.id]) + b"\n" for ref in self._plan.cases))
        path = self._folder.write_json("report.json", report)
        for name, data in renderings(self._folder.root, report).items():
            self._folder.write(name, data)
        log.append(
            RunVerdict(
                gateDigest=self._policy.digest, reportDigest=digest_bytes(path.read_bytes()), verdict=report["verdict"]
            )
        )
        head = close_run(log, self._folder.root)
        return RunClosed(rootSha256=head.root.hex(), runId=self._run_id, size=head.size, verdict=report["verdict"])
