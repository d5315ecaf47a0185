"""The workspace's own log: every plan that was registered, every run that was closed or sealed, in one order.

It stands in ``workspace.log/`` beside the runs, is never closed, and is signed at every entry. From it follows which
run of how many this was for its plan, whatever became of the others: best-of-N and a run that was deleted show.
Left out: taking the whole log back to an earlier, once valid state; that needs a witness elsewhere.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proctor.clock import Clock
from proctor.errors import InfrastructureError
from proctor.ledger.entries import Entry, KeyRotated, PlanRegistered, RunClosed, RunSealed
from proctor.ledger.keys import Signer
from proctor.ledger.note import CHECKPOINT_NAME
from proctor.ledger.reader import is_open, read_checkpoint, read_log
from proctor.ledger.wal import WAL_NAME
from proctor.ledger.writer import LogWriter

__all__ = [
    "WORKSPACE_LOG",
    "Standing",
    "WorkspaceRun",
    "add_to_workspace",
    "missing_runs",
    "read_workspace",
    "standing_of",
    "standing_text",
]

WORKSPACE_LOG: Final = "workspace.log"
WAIT_SECONDS: Final = 10.0
_NAME: Final = "workspace"


@dataclass(kw_only=True)
class WorkspaceRun:
    """A run as the workspace's log knows it; ``root`` and ``verdict`` are None until it was closed."""

    run_id: str
    origin: str
    plan_digest: str
    root: str | None = None
    size: int = 0
    verdict: str | None = None
    seal_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Run number ``index`` of ``of`` for its plan; ``verdicts`` are those of all of them, in order of registration."""

    index: int
    of: int
    verdicts: tuple[str | None, ...]


def add_to_workspace(workspace: Path, entry: Entry, *, signer: Signer, clock: Clock) -> int:
    """Append an entry to the workspace's log, sign it and sync it; the log's size. Makes the log.

    Waits while another run is writing. Raises ``InfrastructureError`` if that takes too long, ``EvidenceError`` where
    the log is damaged.
    """
    deadline = clock.monotonic() + WAIT_SECONDS
    while True:
        try:
            log = _open(workspace / WORKSPACE_LOG, signer, clock)
            break
        except InfrastructureError as error:
            if error.code != "log_locked" or clock.monotonic() > deadline:
                raise
            time.sleep(0.005)
    with log:
        log.append(entry)
        return log.checkpoint().size


def _open(folder: Path, signer: Signer, clock: Clock) -> LogWriter:
    if not is_open(folder):
        return LogWriter.create(folder, origin=signer.origin(_NAME), signer=signer, clock=clock)
    head = read_checkpoint(folder)
    origin = head.origin if head is not None else signer.origin(_NAME)
    return LogWriter.recover(folder, origin=origin, signer=signer, clock=clock, only_if_torn=True)


def read_workspace(workspace: Path) -> dict[str, WorkspaceRun]:
    """The runs by id, in order of registration; empty where there is no log. Raises ``EvidenceError``."""
    runs: dict[str, WorkspaceRun] = {}
    folder = workspace / WORKSPACE_LOG
    for record in read_log(folder) if is_open(folder) else ():
        entry = record.entry
        if isinstance(entry, PlanRegistered):
            runs[entry.runId] = WorkspaceRun(run_id=entry.runId, origin=entry.origin, plan_digest=entry.planDigest)
        elif isinstance(entry, RunClosed) and entry.runId in runs:
            run = runs[entry.runId]
            run.root, run.size, run.verdict = entry.rootSha256, entry.size, entry.verdict
        elif isinstance(entry, RunSealed) and entry.runId in runs:
            runs[entry.runId].seal_digest = entry.sealDigest
        elif isinstance(entry, KeyRotated):
            continue
    return runs


def missing_runs(workspace: Path, runs: dict[str, WorkspaceRun]) -> list[str]:
    """Ids of registered runs whose folder is no longer in the workspace, in order of registration."""
    present = {origin for folder in workspace.iterdir() if (origin := _origin(folder / "ledger")) is not None}
    return [run.run_id for run in runs.values() if run.origin not in present]


def _origin(folder: Path) -> str | None:
    """The origin that a log names, unverified."""
    for name, prefix in ((WAL_NAME, "proctor.wal/1 "), (CHECKPOINT_NAME, "")):
        if (folder / name).is_file():
            with (folder / name).open("rb") as stream:
                return stream.readline(1024).decode("utf-8", "replace").removeprefix(prefix).rstrip("\n")
    return None


def standing_of(runs: dict[str, WorkspaceRun], run_id: str) -> Standing | None:
    """Where a run stands among those of its plan; None where it was never registered."""
    run = runs.get(run_id)
    if run is None:
        return None
    same = [one for one in runs.values() if one.plan_digest == run.plan_digest]
    index = [one.run_id for one in same].index(run_id) + 1
    return Standing(index=index, of=len(same), verdicts=tuple(one.verdict for one in same))


def standing_text(standing: Standing) -> str:
    """``run 3 of 5 for this plan (verdicts: BLOCK, BLOCK, PASS, never closed, PASS)``."""
    verdicts = ", ".join(verdict or "never closed" for verdict in standing.verdicts)
    return f"run {standing.index} of {standing.of} for this plan (verdicts: {verdicts})"
