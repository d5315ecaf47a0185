"""``proctor report RUN --format FORMAT``: a finished run's report, in any of its formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from proctor.errors import Place, UsageError
from proctor.report.formats import FORMATS, render
from proctor.report.load import open_run

__all__ = ["report"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this new file. [default: stdout]")
def report(run: Path, format_: str, out: Path | None) -> int:
    """The report of RUN (a run's folder, or a report.json), made again from its record.

    The run's folder never changes: its ledger has closed over every file in it. Exit code 0 whatever the verdict is.
    """
    reading = open_run(run)
    if out is not None:
        _check_target(out, reading.folder)
    data = render(reading, format_, folder=str(run))
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    with out.open("xb") as stream:
        stream.write(data)
    click.echo(f"{out}", err=True)
    return 0


def _check_target(out: Path, folder: Path | None) -> None:
    if out.exists():
        raise UsageError("there is a file already", place=Place(str(out)), expected="a new file", fix="name another")
    if folder is not None and out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            "a finished run's folder must not change",
            place=Place(str(out)),
            expected="a file outside the run",
            fix=f"name one outside {folder}",
        )
    if not out.absolute().parent.is_dir():
        raise UsageError("there is no such folder", place=Place(str(out.parent)), expected="a folder that exists")
