"""``proctor show RUN [CELL]``: from a blocked run to the offending event in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from proctor.cli.terminal import style_for
from proctor.report.document import Cell
from proctor.report.evidence import CellEvidence, excerpt
from proctor.report.load import RunReading, open_run
from proctor.report.transcript import cell_text, run_text
from proctor.report.worst import worst_cells

__all__ = ["show"]

_WHOLE_STEPS = 200
_EXCERPT_STEPS = 60
_CHANGES = 1_000


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("cell", required=False)
@click.option("--all", "whole", is_flag=True, help="Every step, however many there are.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every step.")
def show(run: Path, cell: str | None, whole: bool, as_json: bool) -> int:
    """Show why RUN got its verdict and what happened in its worst cell, or in CELL (R07/2; R07 is its worst run).

    Offending steps are marked with > and the reason code. Exit code 0 whatever the verdict is.
    """
    reading = open_run(run)
    chosen = _choose(reading, cell)
    evidence = reading.evidence([chosen]).get(chosen.name) if chosen else None
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_values(reading, chosen, evidence)), indent=1))
        return 0
    style = style_for()
    if cell is None:
        click.echo(run_text(reading.document, folder=str(run), style=style))
    if chosen is not None:
        if evidence is not None and not whole and evidence.n_steps > _WHOLE_STEPS:
            evidence = excerpt(evidence, chosen, steps=_EXCERPT_STEPS, changes=_CHANGES)
        meanings = reading.document.reason_codes
        click.echo(cell_text(chosen, evidence, folder=str(run), meanings=meanings, style=style))
    return 0


def _choose(reading: RunReading, cell: str | None) -> Cell | None:
    if cell is not None:
        return reading.cell(cell)
    worst = worst_cells(reading.document.cells, 1)
    return worst[0] if worst else None


def _values(reading: RunReading, cell: Cell | None, evidence: CellEvidence | None) -> dict[str, Any]:
    document = reading.document
    failed = [c for c in document.cells if not c.passed]
    return {
        "verdict": document.verdict,
        "reasons": document.reasons,
        "overall": document.overall,
        "failed": [{"cell": c.name, "outcome": str(c.end), "codes": c.failures} for c in failed],
        "cell": None if cell is None else {"name": cell.name, **msgspec.to_builtins(cell)},
        "evidence": evidence,
    }
