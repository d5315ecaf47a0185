"""``proctor doctor``: what this machine offers, and how to get what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from proctor.runner.machine import Machine, State, examine

__all__ = ["doctor"]

_WORDS = {State.OK: "yes", State.ABSENT: "no", State.BROKEN: "BROKEN"}


@click.command()
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder that holds runs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON on stdout.")
def doctor(workspace: Path, as_json: bool) -> int:
    """Say what this machine offers: isolation tiers (tried out), packages, signing key, workspace.

    Exit code 0 if nothing is broken, 2 if something is. What is merely absent breaks nothing.
    """
    machine = examine(workspace, os.environ)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(machine), indent=1))
    else:
        click.echo(_text(machine))
    return 0 if machine.is_fit else 2


def _text(machine: Machine) -> str:
    lines = [f"Proctor {machine.proctor} · Python {machine.python} · {machine.platform}", ""]
    width = max(len(check.name) for check in machine.checks)
    for check in machine.checks:
        lines.append(f"{check.name:<{width}}  {_WORDS[check.state]:<6}  {check.found}")
        if check.fix is not None:
            lines.append(f"{'':<{width}}  {'':<6}  → {check.fix}")
    return "\n".join(lines)
