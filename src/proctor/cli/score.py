"""``proctor score DATASET RESULTS… CANDIDATE``: recorded results against a planned set of cells."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proctor.clock import SystemClock
from proctor.errors import InputError, Place, UsageError
from proctor.ledger.keys import install_signer
from proctor.report.records import GridReport
from proctor.report.records_text import record_scorecard
from proctor.runner.holdout import count_use
from proctor.runner.record_files import write_report
from proctor.runner.records import evaluate_files, load_record_suite

__all__ = ["score"]


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path))
@click.argument("results", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.argument("candidate")
@click.option("--repeats", help="Runs a case that were planned, 1 to 1000. [default: the suite's runs]")
@click.option("--suite", help="A suite's folder, or one that ships. [default: the one that ships for this]")
@click.option("--out", type=click.Path(path_type=Path), help="Write the report as JSON, in the place of an older one.")
@click.option("--synthetic/--real", default=None, help="Whether no real model made the results. [default: the suite's]")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    help="Where a holdout's uses are counted. [default: runs]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def score(
    dataset: Path,
    results: tuple[Path, ...],
    candidate: str,
    repeats: str | None,
    suite: str | None,
    out: Path | None,
    synthetic: bool | None,
    workspace: Path,
    as_json: bool,
) -> int:
    """Score CANDIDATE's recorded RESULTS (files, or folders of .jsonl) against the cases of DATASET.

    Every planned cell counts: cases × runs. One without a result is missing, and fails. Input that can't be
    trusted is never scored: the command says file, line and field, and writes no report.

    Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED.
    """
    _check_out(out, (dataset, *results))
    try:
        loaded = load_record_suite(suite)
        report = evaluate_files(
            dataset,
            results,
            candidate,
            repeats=loaded.suite.spec.runs if repeats is None else _number(repeats),
            suite=loaded,
            synthetic_only=synthetic,
        )
    except InputError as error:
        if out is not None and out.exists():
            error.fix = f"{error.fix or 'mend it'} ({out} is an older report, not this run's)"
        raise
    report = _counted(report, dataset, workspace)
    if out is not None:
        write_report(report, out)
    _print(report, out, as_json=as_json)
    return report.verdict.exit_code


def _counted(report: GridReport, dataset: Path, workspace: Path) -> GridReport:
    """Count the use of a holdout before anything is shown of it."""
    state = count_use(
        workspace,
        dataset,
        report.grid.cases.sha256,
        report.grid.candidate,
        signer=lambda: install_signer(os.environ),
        clock=SystemClock(),
    )
    return report if state is None else replace(report, holdout=state.to_dict())


def _number(text: str) -> Any:
    """The integer that was written, or the text itself, for the evaluation to refuse."""
    try:
        return int(text) if text.isascii() else text
    except ValueError:
        return text


def _check_out(out: Path | None, inputs: tuple[Path, ...]) -> None:
    if out is None:
        return
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UsageError("no report can be written there", place=Place(str(out)), expected="a file in a folder")
    for path in inputs:
        if out.exists() and (out.resolve() == path.resolve() or out.resolve().parent == path.resolve()):
            raise UsageError(
                "the report would stand in the place of its own input",
                place=Place(str(out)),
                expected="another file",
                fix="choose another --out",
            )


def _print(report: GridReport, out: Path | None, *, as_json: bool) -> None:
    if as_json:
        for piece in report.pieces():
            click.echo(piece, nl=False)
        click.echo(report.summary_line, err=True)
        return
    text = record_scorecard(report)
    if out is not None:
        body, _, last = text.rpartition("\n")
        text = f"{body}\n  report  {out}\n{last}"
    click.echo(text)
