"""``proctor witness LOG``: sign the head of somebody else's log, if the log only grew."""

from __future__ import annotations

import os
from pathlib import Path

import click

from proctor.clock import SystemClock
from proctor.ledger.keys import home_folder, install_signer
from proctor.ledger.trust import load_trust
from proctor.ledger.witness import witness_log

__all__ = ["witness"]


@click.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--trust", "trust_path", type=click.Path(path_type=Path), required=True, help="The log's keys, as you believe them."
)
def witness(log: Path, trust_path: Path) -> int:
    """Add a cosignature to the head of LOG (RUN/ledger, or a workspace.log), if the log only grew since the last time.

    Run it as another user than the one that runs evaluations, or on another machine: a witness that shares the
    signer's key folder is worth nothing. Its own key and memory are in $PROCTOR_HOME; `proctor keys show --witness`
    prints the key that others put into their trust file. Exit codes: 0 signed, 2 refused.
    """
    home = home_folder(os.environ)
    done = witness_log(
        log, home=home, signer=install_signer(os.environ), trust=load_trust(trust_path), clock=SystemClock()
    )
    click.echo(f"signed {done.origin} at {done.size} entries (before: {done.since})")
    return 0
