"""``proctor grade``: grade a finished run again, offline, from its record; or one case from its files alone. Writes
nothing into the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from proctor.codec.canonical import canonical_bytes
from proctor.errors import UsageError, shorten
from proctor.grade.files import grade_files
from proctor.kinds import Verdict
from proctor.report.text import scorecard
from proctor.runner.record import RunRecord
from proctor.runner.regrade import Change, changes, regrade
from proctor.suite.load import load_suite

__all__ = ["grade"]

_MOST_LINES = 50
_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("run", type=click.Path(path_type=Path), required=False)
@click.option("--suite", help="An edited suite: its graders, answer keys and gate. [default: the run's own copy]")
@click.option("--trace", type=_FILE, help="One case from its files: its trace (JSONL).")
@click.option("--state", type=_FILE, help="Its final state: SQLite, or JSON.")
@click.option("--key", type=_FILE, help="Its answer key (JSON).")
@click.option("--before", type=_FILE, help="The state it started from, for what should not have changed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
def grade(
    run: Path | None,
    suite: str | None,
    trace: Path | None,
    state: Path | None,
    key: Path | None,
    before: Path | None,
    as_json: bool,
) -> int:
    """Grade RUN (a run's folder) again from its record, and say what changed; or grade one case from --trace, --state
    and --key, by the layout of --suite or of the key.

    No agent runs and nothing in RUN is written. Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED.
    """
    if run is None:
        return _one_case(trace, state, key, before, suite, as_json)
    if trace or state or key or before:
        raise UsageError("a run and single files at once", expected="RUN, or --trace, --state and --key")
    cells, report, _ = regrade(run, load_suite(suite) if suite is not None else None)
    record = RunRecord(run)
    changed = changes(record, cells)
    recorded = record.recorded_verdict
    verdict = Verdict[report["verdict"]]
    if as_json:
        document = {"changes": msgspec.to_builtins(changed), "verdict_before": recorded, "report": report}
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1))
        return verdict.exit_code
    for line in _lines(changed, len(cells), recorded, report, run):
        click.echo(line)
    return verdict.exit_code


def _one_case(
    trace: Path | None, state: Path | None, key: Path | None, before: Path | None, suite: str | None, as_json: bool
) -> int:
    if trace is None or state is None or key is None:
        raise UsageError("nothing to grade", expected="RUN, or all three of --trace, --state and --key")
    layout = load_suite(suite).spec.layout if suite is not None else None
    made = grade_files(trace=trace, state=state, key=key, before=before, layout=layout)
    if as_json:
        click.echo(canonical_bytes(made).decode())
    else:
        for line in _case_lines(made):
            click.echo(line)
    return {True: Verdict.PASS, False: Verdict.BLOCK, None: Verdict.UNDECIDED}[made["passed"]].exit_code


def _case_lines(made: dict[str, Any]) -> list[str]:
    lines = []
    for entry in made["grades"]:
        lines.append(f"{entry['grader']:<11} {'passed' if entry['passed'] else 'failed'}")
        for found in entry["codes"]:
            evidence = found["evidence"]
            steps = f" (step {', '.join(map(str, evidence['steps']))})" if evidence["steps"] else ""
            got = f"expected {shorten(evidence['expected'])}, got {shorten(evidence['got'])}"
            lines.append(f"  {found['code']}{steps}: {shorten(evidence['detail'], 100)}; {got}")
    return lines + [f"{entry['grader']:<11} {entry['why']}" for entry in made["not_graded"]]


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
