"""``proctor run SUITE --agent AGENT``: run, grade, gate, report."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import msgspec

from proctor.cli.terminal import style_for
from proctor.errors import UsageError
from proctor.report.text import progress_line, scorecard
from proctor.runner.estimate import Estimate, estimate_run
from proctor.runner.run import FinishedRun, Progress, RunRequest, run_suite
from proctor.sandbox.tiers import Tier
from proctor.suite.load import load_suite
from proctor.suite.plan import Selection

__all__ = ["progress_to", "run"]


@click.command()
@click.argument("suite")
@click.option("--agent", help="Who is evaluated: builtin:NAME or cmd:COMMAND.")
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs a case; the suite says how many by default.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of cases, worlds and plan.")
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder. [default: runs/ID]")
@click.option(
    "--isolation",
    type=click.Choice(["T1", "T2"]),
    help="At least this isolation tier; the suite's own demand holds in any case.",
)
@click.option("--case", "cases", multiple=True, help="Only this case (a partial plan: it can't pass).")
@click.option("--slice", "slices", multiple=True, help="Only this slice (a partial plan).")
@click.option("--limit", type=click.IntRange(1), help="Only the first N cases (a partial plan).")
@click.option("--estimate", is_flag=True, help="Say what the run would cost: from earlier runs, or five pilot cells.")
@click.option("--list-agents", is_flag=True, help="List the agents that ship with the suite: name, role, what.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
@click.option("--quiet", is_flag=True, help="Print the verdict line only.")
@click.pass_context
def run(
    ctx: click.Context,
    suite: str,
    agent: str | None,
    runs: int | None,
    seed: int,
    out: Path | None,
    isolation: Tier | None,
    cases: tuple[str, ...],
    slices: tuple[str, ...],
    limit: int | None,
    estimate: bool,
    list_agents: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run an agent over SUITE (a folder, or the name of one that ships) and say whether it may ship.

    Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED.
    """
    if list_agents:
        for entry in load_suite(suite).agents:
            click.echo(f"{entry.name} {entry.role} {entry.what}")
        return 0
    if agent is None:
        raise UsageError(
            "no agent is named",
            expected="--agent builtin:NAME or --agent 'cmd:COMMAND'",
            fix="--list-agents lists them",
        )
    request = RunRequest(
        suite=suite,
        agent=agent,
        runs=runs,
        seed=seed,
        out=out,
        isolation=isolation,
        selection=Selection(cases=cases, slices=slices, limit=limit),
    )
    if estimate:
        made = estimate_run(request, workspace=Path("runs") if out is None else out.absolute().parent)
        click.echo(msgspec.json.encode(made).decode() if as_json else forecast_text(made))
        return 0
    finished = run_suite(request, on_cell=progress_to(quiet=quiet or as_json))
    _print(finished, as_json=as_json, quiet=quiet)
    return finished.verdict.exit_code


def progress_to(*, quiet: bool) -> Callable[[Progress], None]:
    """Progress on stderr, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None

    started = time.monotonic()

    def show(progress: Progress) -> None:
        cell, outcome = progress.record.cell, str(progress.record.outcome)
        line = progress_line(progress.done, progress.planned, cell, outcome, seconds=time.monotonic() - started)
        end = "\n" if progress.done == progress.planned else ""
        click.echo(f"\r\x1b[2K{line}{end}", nl=False, err=True)

    return show


def _print(finished: FinishedRun, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(
            msgspec.json.format(msgspec.json.encode({**finished.report, "folder": str(finished.folder)}), indent=1)
        )
        return
    click.echo(scorecard(finished.report, folder=str(finished.folder), brief=quiet, style=style_for()))


def forecast_text(made: Estimate) -> str:
    """What a run would cost, a line a figure, each with its 95% range."""
    whose = " (as the agent claims)" if made.claimed and made.tokens is not None else ""
    rows = (("time", made.seconds, "s", 1), ("tokens", made.tokens, "", 0), ("US$", made.usd, "", 4))
    lines = [f"{made.cells} cells; forecast from {made.measured_cells} measured ones ({made.source})"]
    for name, figure, unit, digits in rows:
        if figure is None:
            lines.append(f"  {name:<8} unknown")
            continue
        text = f"{figure.expected:,.{digits}f}{unit}"
        if figure.low is not None and figure.high is not None:
            text += f"   95% range {figure.low:,.{digits}f} to {figure.high:,.{digits}f}{unit}"
        lines.append(f"  {name:<8} {text}{whose if name != 'time' else ''}")
    return "\n".join(lines)
