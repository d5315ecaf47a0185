"""``proctor run SUITE --agent AGENT``: run, grade, gate, report; ``--resume RUN``: go on with one."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from proctor.cli.options import SEED
from proctor.cli.terminal import style_for
from proctor.errors import UsageError
from proctor.report.text import progress_line, scorecard
from proctor.runner.estimate import Estimate, estimate_run
from proctor.runner.resume import ResumeRequest, resume_run
from proctor.runner.run import FinishedRun, Progress, RunRequest, run_suite
from proctor.sandbox.tiers import Tier
from proctor.suite.load import load_suite
from proctor.suite.plan import Selection

__all__ = ["progress_to", "run"]


@click.command()
@click.argument("suite", required=False)
@click.option("--agent", help="Who is evaluated: builtin:NAME or cmd:COMMAND.")
@click.option("--runs", type=click.IntRange(1, 1000), help="Runs a case; the suite says how many by default.")
@click.option("--seed", type=SEED, help="Seed of cases, worlds and plan. [default: 1]")
@click.option("--out", type=click.Path(path_type=Path), help="The run's folder. [default: runs/ID]")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Go on with an interrupted run: exactly its cells without a committed result.",
)
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
    suite: str | None,
    agent: str | None,
    runs: int | None,
    seed: int | None,
    out: Path | None,
    resume: Path | None,
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

    A run that was interrupted goes on with --resume RUN; SUITE and --agent are then needed only if they were moved.

    Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED, 130 interrupted.
    """
    on_cell = progress_to(quiet=quiet or as_json)
    selection = Selection(cases=cases, slices=slices, limit=limit)
    if resume is not None:
        if out is not None or isolation is not None or list_agents or estimate or not selection.is_whole:
            raise UsageError(
                "a run goes on in its own folder, with its own plan",
                expected="--resume RUN alone, or with SUITE and --agent",
                fix="leave the other options out",
            )
        with _ends_cleanly():
            again = ResumeRequest(run=resume, suite=suite, agent=agent, seed=seed, runs=runs)
            finished = resume_run(again, on_cell=on_cell)
    else:
        suite = _named(suite)
        if list_agents:
            for entry in load_suite(suite).agents:
                click.echo(f"{entry.name} {entry.role} {entry.what}")
            return 0
        request = RunRequest(
            suite=suite,
            agent=_agent(agent),
            runs=runs,
            seed=1 if seed is None else seed,
            out=out,
            isolation=isolation,
            selection=selection,
        )
        if estimate:
            made = estimate_run(request, workspace=Path("runs") if out is None else out.absolute().parent)
            click.echo(msgspec.json.encode(made).decode() if as_json else forecast_text(made))
            return 0
        with _ends_cleanly():
            finished = run_suite(request, on_cell=on_cell)
    _print(finished, as_json=as_json, quiet=quiet)
    return finished.verdict.exit_code


def _named(suite: str | None) -> str:
    if suite is None:
        raise UsageError("no suite is named", expected="proctor run SUITE --agent AGENT, or --resume RUN")
    return suite


def _agent(agent: str | None) -> str:
    if agent is None:
        raise UsageError(
            "no agent is named",
            expected="--agent builtin:NAME or --agent 'cmd:COMMAND'",
            fix="--list-agents lists them",
        )
    return agent


@contextlib.contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Take a request to end, and a terminal that is gone, like Ctrl-C: agents are ended, the record stays open."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
