"""Going on with a run that was interrupted: the cells without a committed result, then its end.

What was committed stays as it is. The plan is the recorded one: another suite, agent, seed or number of runs is
refused. Left out: the steps themselves (``runner.run``), which look what is there already.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proctor.clock import Clock, SystemClock
from proctor.codec.json_strict import parse_json
from proctor.errors import EvidenceError, Place, UsageError
from proctor.kinds import Verdict
from proctor.ledger.entries import RunClosed
from proctor.ledger.keys import install_signer
from proctor.ledger.note import Checkpoint
from proctor.ledger.reader import is_open, read_checkpoint
from proctor.ledger.workspace import add_to_workspace, read_workspace
from proctor.runner.folder import RunFolder
from proctor.runner.logs import open_again
from proctor.runner.past import planned_agent, planned_suite, read_past
from proctor.runner.record import RunRecord
from proctor.runner.regrade import kept_suite
from proctor.runner.run import FinishedRun, Progress, Run
from proctor.runner.setting import Agents, Setting, isolate_agents, prepare, start_children
from proctor.suite.plan import Plan

__all__ = ["ResumeRequest", "resume_run"]


@dataclass(frozen=True, kw_only=True)
class ResumeRequest:
    """Which run to go on with. Suite and agent are needed only where they no longer are where the run was started
    with them; ``seed`` and ``runs`` can only agree with the plan."""

    run: Path
    suite: str | None = None
    agent: str | None = None
    seed: int | None = None
    runs: int | None = None


def resume_run(
    request: ResumeRequest, *, on_cell: Callable[[Progress], None] = lambda _: None, clock: Clock | None = None
) -> FinishedRun:
    """Go on with a run to its end; of one that has ended, the answer it came to. Raises ``UsageError`` where there is
    nothing to go on with or something else is asked for than was planned."""
    clock = clock or SystemClock()
    folder = RunFolder(request.run)
    plan, past = read_past(folder)
    _check(request, plan)
    run_id = past.run_id or ""
    if past.is_ended:
        return _ended(folder, run_id, clock)
    with contextlib.ExitStack() as resources:
        is_worked = len(past.cells) == plan.size
        setting = _end_setting(resources, folder) if is_worked else _setting(resources, request, folder, plan)
        return Run(setting, folder, run_id, clock).execute(past, on_cell)


def _check(request: ResumeRequest, plan: Plan) -> None:
    for name in ("seed", "runs"):
        asked, planned = getattr(request, name), getattr(plan, name)
        if asked is not None and asked != planned:
            raise UsageError(
                f"the run was planned with another --{name}",
                place=Place(str(request.run)),
                expected=str(planned),
                found=str(asked),
                fix=f"leave --{name} out, or start a new run",
            )


def _setting(resources: contextlib.ExitStack, request: ResumeRequest, folder: RunFolder, plan: Plan) -> Setting:
    """As at the start, with what was planned then."""
    suite = planned_suite(plan, folder, request.suite)
    command = planned_agent(plan, folder, suite, request.agent)
    children = start_children(resources, suite)
    cases = tuple(RunRecord(folder.root).cases.values())
    isolated = resources.enter_context(contextlib.closing(isolate_agents(plan, suite.folder, command, folder.root)))
    agents = Agents(command=command, isolated=isolated)
    return prepare(suite, plan, cases, children, isolation=isolated.record, agents=agents)


def _end_setting(resources: contextlib.ExitStack, folder: RunFolder) -> Setting:
    """Where every cell is graded: the run's own copy of the suite is enough, and no agent is started."""
    record = RunRecord(folder.root)
    suite = kept_suite(record)
    children = start_children(resources, suite)
    return prepare(suite, record.plan, tuple(record.cases.values()), children, isolation=record.isolation, agents=None)


def _ended(folder: RunFolder, run_id: str, clock: Clock) -> FinishedRun:
    """A run whose log says that it ended: close what a crash left open, and give its answer."""
    root = folder.root
    report = parse_json((root / "report.json").read_bytes(), file=str(root / "report.json"))
    signer = install_signer(os.environ)
    workspace = root.absolute().parent
    if is_open(folder.ledger):
        with open_again(folder.ledger, signer.origin("run", run_id), signer, clock) as log:
            head: Checkpoint | None = log.close()
    else:
        head = read_checkpoint(folder.ledger)
    if head is None:
        raise EvidenceError("the run's log has no signed head", place=Place(str(folder.ledger)), code="no_log")
    known = read_workspace(workspace).get(run_id)
    if known is not None and known.root is None:
        closed = RunClosed(rootSha256=head.root.hex(), runId=run_id, size=head.size, verdict=report["verdict"])
        add_to_workspace(workspace, closed, signer=signer, clock=clock)
    return FinishedRun(folder=root, report=report, verdict=Verdict[report["verdict"]])
