"""``proctor grade RUN``: grade a finished run again, offline, from its record. Writes nothing into the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from proctor.errors import shorten
from proctor.kinds import Verdict
from proctor.report.text import scorecard
from proctor.runner.record import RunRecord
from proctor.runner.regrade import Change, changes, regrade
from proctor.suite.load import load_suite

__all__ = ["grade"]

_MOST_LINES = 50


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--suite", help="An edited suite: its graders, answer keys and gate. [default: the run's own copy]")
@click.option("--json", "as_json", is_flag=True, help="Print changes and report as JSON on stdout.")
def grade(run: Path, suite: str | None, as_json: bool) -> int:
    """Grade RUN (a run's folder) again from its record, and say what changed.

    No agent runs and nothing in RUN is written. Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED.
    """
    cells, report, _ = regrade(run, load_suite(suite) if suite is not None else None)
    record = RunRecord(run)
    changed = changes(record, cells)
    before = record.recorded_verdict
    verdict = Verdict[report["verdict"]]
    if as_json:
        document = {"changes": msgspec.to_builtins(changed), "verdict_before": before, "report": report}
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1))
        return verdict.exit_code
    for line in _lines(changed, len(cells), before, report, run):
        click.echo(line)
    return verdict.exit_code


def _lines(changed: list[Change], n_cells: int, before: str | None, report: dict[str, Any], run: Path) -> list[str]:
    lines = [f"{len(changed)} of {n_cells} cells are graded otherwise than before"]
    for change in changed[:_MOST_LINES]:
        codes = f"{_codes(change.codes_before)} → {_codes(change.codes_after)}"
        detail = f"  {shorten(change.detail, 100)}" if change.detail else ""
        lines.append(f"  {change.cell}  {change.before or 'not graded'} → {change.after}  {codes}{detail}")
    if len(changed) > _MOST_LINES:
        lines.append(f"  … and {len(changed) - _MOST_LINES} more (--json lists them all)")
    verdict = report["verdict"]
    was = "no verdict" if before is None else before
    lines.append(f"verdict {was} → {verdict}" if was != verdict else f"verdict {verdict}, as before")
    card = scorecard(report, folder=str(run)).split("\n")
    footer = next((i for i, line in enumerate(card) if line.startswith("  report ")), len(card))
    return [*lines, *card[:footer]]


def _codes(codes: tuple[str, ...]) -> str:
    return ", ".join(codes) or "no code"
