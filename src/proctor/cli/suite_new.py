"""``proctor suite new NAME``: a small suite that runs at once."""

from __future__ import annotations

import re
from pathlib import Path

import click

from proctor.errors import Place, UsageError
from proctor.suite.template import new_suite

__all__ = ["new"]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@click.command()
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="here",
    help="The folder to make it in.",
)
def new(name: str, into: Path) -> int:
    """Make the folder NAME with a small suite: tables and tools, cases, a grader, a gate and two agents."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            "a suite can't have this name",
            expected="a small letter, then small letters, digits, - and _ (at most 64)",
            found=name,
        )
    folder = into / name
    if folder.exists():
        raise UsageError(
            "there is something of this name already",
            place=Place(str(folder)),
            expected="a folder that doesn't exist yet",
            fix="choose another name, or --into another folder",
        )
    for path, text in new_suite(name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        click.echo(f"wrote {folder / path}")
    click.echo("")
    click.echo(f"check it   proctor suite check {folder}")
    click.echo(f"run it     proctor run {folder} --agent builtin:good")
    click.echo(f"your own   proctor run {folder} --agent 'cmd:python3 {folder}/agents/agent.py'")
    return 0
