"""``proctor trace RUN CELL``: everything that happened in a cell, step by step."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from proctor.cli.terminal import style_for
from proctor.report.load import open_run
from proctor.report.transcript import trace_text

__all__ = ["trace"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("cell")
@click.option("--json", "as_json", is_flag=True, help="Print the trace's own rows: JSONL, byte for byte.")
def trace(run: Path, cell: str, as_json: bool) -> int:
    """Print the trace of CELL (R07/2; R07 is its worst run): every step of every attempt."""
    reading = open_run(run)
    chosen = reading.cell(cell)
    if as_json:
        sys.stdout.buffer.write(reading.trace_path(chosen).read_bytes())
        sys.stdout.buffer.flush()
        return 0
    click.echo(trace_text(chosen, list(reading.rows(chosen)), style_for()))
    return 0
