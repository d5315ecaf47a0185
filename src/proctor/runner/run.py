"""A whole run: plan, cells, grades, gate, report, and a ledger that is closed at the end; begun, or gone on with.

The order is fixed: the plan is registered before the first cell; an attempt before it starts; a cell's record is on
the disk before its result counts; the report's digest is in the log before the log closes. Every step looks whether
the log has it already, so that a run that was killed at any moment goes on where it was. Left out: how a cell runs
(``runner.cells``), what a report looks like (``report``).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proctor.agents.resolve import resolve_agent
from proctor.clock import Clock, SystemClock, SystemRandomness, utc_text
from proctor.codec.canonical import digest_bytes
from proctor.errors import EvidenceError, InfrastructureError, Place, ProctorError
from proctor.gateway.recorder import Recorder
from proctor.kinds import Verdict
from proctor.ledger.closing import close_run
from proctor.ledger.entries import PlanRegistered, RunClosed, RunPlan, RunVerdict, SelfTest, WorkerLog
from proctor.ledger.keys import install_signer
from proctor.ledger.note import Checkpoint
from proctor.ledger.texts import TextStore
from proctor.ledger.workspace import add_to_workspace, read_workspace
from proctor.ledger.writer import LogWriter
from proctor.report.formats import renderings
from proctor.report.model import RunFigures, build_report
from proctor.runner.cells import CellRunner
from proctor.runner.folder import RunFolder
from proctor.runner.logs import closed_head, open_again, open_log
from proctor.runner.observed import OBSERVED_FILE, observe
from proctor.runner.past import Past, Started
from proctor.runner.record import RunRecord
from proctor.runner.setting import Agents, Setting, isolate_agents, prepare, start_children
from proctor.runner.spent import run_usage
from proctor.runner.verdict import gate_policy, judge_cells
from proctor.runner.workspace import believe_own_key
from proctor.sandbox.tiers import Tier, isolation_file
from proctor.score.cells import CellRecord
from proctor.suite.load import load_suite
from proctor.suite.plan import Cell, Selection, make_plan

__all__ = ["FinishedRun", "Progress", "Run", "RunInterrupted", "RunRequest", "run_suite"]

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


class RunInterrupted(ProctorError):
    """Somebody ended the run by hand; it can be gone on with."""

    exit_code = 130


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
        children = start_children(resources, suite)
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
        isolated = resources.enter_context(contextlib.closing(isolate_agents(plan, suite.folder, command, root)))
        agents = Agents(command=command, isolated=isolated)
        setting = prepare(suite, plan, cases, children, isolation=isolated.record, agents=agents)
        folder = RunFolder.create(root)
        folder.write("plan.json", plan.to_bytes())
        folder.copy_suite(suite, b"".join(_JSON(setting.cases[ref.id]) + b"\n" for ref in plan.cases))
        started = Started(suite=str(suite.folder), agent=request.agent, folder=str(Path.cwd()))
        folder.write_json("start.json", started)
        return Run(setting, folder, run_id, clock).execute(Past(), on_cell)


def _run_id(started_ns: int) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(started_ns // 1_000_000_000))
    return f"{stamp}-{SystemRandomness().bytes(3).hex()}"


class Run:
    """A run under way."""

    def __init__(self, setting: Setting, folder: RunFolder, run_id: str, clock: Clock) -> None:
        self._setting, self._folder, self._run_id, self._clock = setting, folder, run_id, clock
        self._plan, self._policy = setting.plan, setting.policy
        self._signer = install_signer(os.environ)
        self._records: dict[Cell, CellRecord] = {}

    def execute(self, past: Past, on_cell: Callable[[Progress], None]) -> FinishedRun:
        """All that is left of it, in order. The report's times are the log's own, so that it can be made again from
        the record. Raises ``RunInterrupted`` at Ctrl-C."""
        believe_own_key(self._folder.root.absolute().parent, self._signer)
        self._records.update(past.cells)
        try:
            with self._open(past) as log:
                started_ns = self._register(log, past)
                finished_ns = self._work(log, past, on_cell)
                report = self._report(started_ns, finished_ns)
                self._tell_workspace(self._close(log, report, past))
        except KeyboardInterrupt:
            raise RunInterrupted(
                f"interrupted after {len(self._records)} of {self._plan.size} cells",
                fix=f"go on with it: proctor run --resume {self._folder.root}",
                code="interrupted",
            ) from None
        return FinishedRun(folder=self._folder.root, report=report, verdict=Verdict[report["verdict"]])

    def _open(self, past: Past) -> LogWriter:
        """The run's log, new or again. Raises ``InfrastructureError`` where another process went on with it."""
        ledger = self._folder.ledger
        if not past.entries:
            return open_log(ledger, self._origin(), self._signer, self._clock)
        log = open_again(ledger, self._origin(), self._signer, self._clock)
        if log.size != len(past.entries) + 1:
            log.abandon()
            raise InfrastructureError(
                "another process went on with this run meanwhile", place=Place(str(ledger)), code="log_locked"
            )
        self._folder.remove_leftovers()
        self._folder.write("cells.jsonl", b"".join(row + b"\n" for row in past.rows))
        return log

    def _origin(self, *parts: str) -> str:
        return self._signer.origin("run", self._run_id, *parts)

    def _register(self, log: LogWriter, past: Past) -> int:
        """Register the plan before anything runs, and what isolation was found; when the plan was registered, in ns."""
        started_ns = past.entries[0].t_ns if past.entries else 0
        if not past.entries:
            log.append(RunPlan(cells=self._plan.size, planDigest=self._plan.digest, runId=self._run_id))
            started_ns = log.last_ns
        if self._setting.agents is not None or not past.isolation_digests:
            self._note_isolation(log, past.isolation_digests)
        log.commit()
        if self._run_id not in read_workspace(self._folder.root.absolute().parent):
            self._tell_workspace(PlanRegistered(origin=log.origin, planDigest=self._plan.digest, runId=self._run_id))
        return started_ns

    def _note_isolation(self, log: LogWriter, known: list[str]) -> None:
        """The isolation that was tried out now; a file of its own where it was found otherwise than before."""
        record = self._setting.isolation
        name = isolation_file(len(known))
        digest = digest_bytes(self._folder.as_json(record))
        if digest not in known:
            self._folder.write_json(name, record)
        log.append(SelfTest(isolationDigest=digest, tier=record.tier))

    def _work(self, log: LogWriter, past: Past, on_cell: Callable[[Progress], None]) -> int:
        """Run what is left in the worker's log; when that log was taken in, in ns."""
        origin, folder = self._origin("worker/00"), self._folder.worker_log(0)
        known, known_ns = past.worker(origin)
        if known is not None and known.size:
            return known_ns
        head = closed_head(folder)
        if head is None:
            head = self._run_cells(log, origin, is_known=known is not None, on_cell=on_cell)
        elif len(self._records) < self._plan.size:
            raise EvidenceError(
                "the worker's log was closed although cells are left to run", place=Place(str(folder)), code="closed"
            )
        log.append(WorkerLog(origin=origin, rootSha256=head.root.hex(), size=head.size))
        return log.last_ns

    def _run_cells(
        self, log: LogWriter, origin: str, *, is_known: bool, on_cell: Callable[[Progress], None]
    ) -> Checkpoint:
        folder, texts_path = self._folder.worker_log(0), self._folder.worker_texts(0)
        is_new = not (folder / "wal").exists()
        opened = open_log if is_new else open_again
        with (
            opened(folder, origin, self._signer, self._clock) as worker,
            TextStore.recover(texts_path) as texts,
        ):
            if not is_known:
                log.append(WorkerLog(origin=origin, rootSha256=worker.root.hex(), size=0))
                log.commit()
            runner = CellRunner(
                self._setting,
                self._folder,
                self._run_id,
                log=log,
                recorder=Recorder(worker, texts),
                clock=self._clock,
                earlier={} if is_new else RunRecord(self._folder.root).attempts,
            )
            for cell in self._plan.cells():
                if cell not in self._records:
                    record = self._records[cell] = runner.run(cell)
                    on_cell(Progress(record=record, done=len(self._records), planned=self._plan.size))
            texts.close()
            return worker.close()

    def _report(self, started_ns: int, finished_ns: int) -> dict[str, Any]:
        records = [self._records[cell] for cell in self._plan.cells()]
        suite = self._setting.suite
        record = RunRecord(self._folder.root)
        usage = run_usage(record, suite.spec.budget)
        observed = observe(record, suite.spec.contract, suite.spec.cycle.seconds)
        self._folder.write_json(OBSERVED_FILE, observed)
        self._folder.write_json("usage.manifest.json", usage.manifest)
        self._folder.write_json("usage.records.json", usage.records)
        summary, decision = judge_cells(self._plan, records, self._policy, suite, usage=usage.fact, observed=observed)
        figures = RunFigures(
            run_id=self._run_id,
            started=utc_text(started_ns),
            finished=utc_text(finished_ns),
            isolation=self._setting.isolation.summary(),
            floor=self._setting.floor,
            codes=self._setting.codes,
            usage=usage.section,
        )
        return build_report(self._plan, records, summary, decision, figures)

    def _tell_workspace(self, entry: PlanRegistered | RunClosed) -> None:
        add_to_workspace(self._folder.root.absolute().parent, entry, signer=self._signer, clock=self._clock)

    def _close(self, log: LogWriter, report: dict[str, Any], past: Past) -> RunClosed:
        path = self._folder.write_json("report.json", report)
        for name, data in renderings(self._folder.root, report).items():
            self._folder.write(name, data)
        digest = digest_bytes(path.read_bytes())
        if past.report_digest != digest:
            log.append(RunVerdict(gateDigest=self._policy.digest, reportDigest=digest, verdict=report["verdict"]))
        (self._folder.root / "start.json").unlink(missing_ok=True)
        head = close_run(log, self._folder.root)
        return RunClosed(rootSha256=head.root.hex(), runId=self._run_id, size=head.size, verdict=report["verdict"])
