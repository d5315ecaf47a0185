"""``proctor seal RUN``: check a run, and sign a statement about it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from proctor.cli.verify import trust_for
from proctor.clock import SystemClock
from proctor.codec.canonical import digest_bytes
from proctor.ledger.closing import SEAL_NAME
from proctor.ledger.entries import RunSealed
from proctor.ledger.keys import install_signer
from proctor.ledger.workspace import add_to_workspace, read_workspace, standing_of
from proctor.verification.regrade import grade_again
from proctor.verification.run import verify_run
from proctor.verification.seal import TIERS, seal_run

__all__ = ["seal"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--trust", "trust_path", type=click.Path(path_type=Path), help="Keys to believe. [default: trust.json beside RUN]"
)
@click.option(
    "--least-tier",
    type=click.Choice(TIERS[1:]),
    default="T2",
    show_default=True,
    help="Isolation that the run must have held.",
)
def seal(run: Path, trust_path: Path | None, least_tier: str) -> int:
    """Check RUN and, if it is intact, complete and grades the same again, sign an in-toto statement about it.

    Writes seal.dsse.json into RUN and an entry into the workspace's log. Exit codes: 0 sealed, 2 not sealable.
    """
    check = verify_run(run, trust_for(run, trust_path), regrade=grade_again)
    workspace = run.absolute().parent
    signer = install_signer(os.environ)
    standing = standing_of(read_workspace(workspace), check.run_id or "")
    data = seal_run(run, check, signer=signer, standing=standing, least_tier=least_tier)
    entry = RunSealed(rootSha256=check.root, runId=check.run_id or "", sealDigest=digest_bytes(data))
    add_to_workspace(workspace, entry, signer=signer, clock=SystemClock())
    click.echo(f"sealed {run / SEAL_NAME}")
    if standing is not None:
        click.echo(f"run {standing.index} of {standing.of} for this plan")
    return 0
