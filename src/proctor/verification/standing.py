"""A run among the others of its workspace: how often its plan was run, what became of them, and whether this is the run
that was closed there.

Without a workspace log beside the run, or in one that does not know it, these are notes: a run may be checked
anywhere. Left out: the run's own record.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from proctor.codec.canonical import digest_file
from proctor.ledger.checks import Finding, LogCheck
from proctor.ledger.closing import SEAL_NAME
from proctor.ledger.reader import is_open
from proctor.ledger.trust import TrustFile
from proctor.ledger.verify import verify_log
from proctor.ledger.workspace import (
    WORKSPACE_LOG,
    WorkspaceRun,
    missing_runs,
    read_workspace,
    standing_of,
    standing_text,
)

__all__ = ["check_standing"]

_LOG = f"../{WORKSPACE_LOG}"


def check_standing(run: Path, run_id: str, head: LogCheck, trust: TrustFile) -> tuple[list[Finding], list[str]]:
    """``(findings, notes)`` about the run ``run_id`` in folder ``run``, whose log's check is ``head``."""
    workspace = run.absolute().parent
    if not is_open(workspace / WORKSPACE_LOG):
        return [], ["no workspace log beside the run: how often this plan was run is unknown"]
    check = verify_log(workspace / WORKSPACE_LOG, trust)
    if check.findings:
        return [msgspec.structs.replace(one, file=f"{_LOG}/{one.file}") for one in check.findings], []
    runs = read_workspace(workspace)
    standing = standing_of(runs, run_id)
    if standing is None:
        return [], ["the workspace's log does not know this run: how often its plan was run is unknown"]
    notes = [standing_text(standing)]
    known = runs[run_id]
    gone = missing_runs(workspace, {name: one for name, one in runs.items() if one.plan_digest == known.plan_digest})
    if gone:
        notes.append(f"runs of this plan that are gone from the workspace: {', '.join(gone)}")
    return _compare(run, known, head), notes


def _compare(run: Path, known: WorkspaceRun, head: LogCheck) -> list[Finding]:
    findings = []
    if known.root is not None and (known.size, known.root) != (head.size, head.root.hex()):
        findings.append(
            Finding.at(
                _LOG,
                "workspace_differs",
                "the run is not the one that was closed in this workspace",
                expected=f"{known.size} entries, root {known.root}",
                found=f"{head.size} entries, root {head.root.hex()}",
            )
        )
    seal = run / SEAL_NAME
    if known.seal_digest is not None and (not seal.is_file() or digest_file(seal) != known.seal_digest):
        findings.append(
            Finding.at(
                SEAL_NAME,
                "seal_differs",
                "the seal that the workspace's log knows is missing or another",
                expected=known.seal_digest,
            )
        )
    return findings
