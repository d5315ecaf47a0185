"""``proctor demo``: a good agent passes, a few defective ones are blocked, each for the fault that it has."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from proctor.cli.options import SEED
from proctor.cli.run import progress_to
from proctor.cli.terminal import style_for
from proctor.errors import UsageError
from proctor.report.text import incident, scorecard
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.suite.load import Suite, builtin_suites, load_suite

__all__ = ["demo"]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), help="Where the runs go. [default: a new temporary folder]")
@click.option("--seed", type=SEED, default=1, show_default=True)
def demo(out: Path | None, seed: int) -> int:
    """See Proctor at work on a suite that ships with it.

    Exit code 0 if the good agent passed and every defective one was blocked.
    """
    suite = _demo_suite()
    folder = out or Path(tempfile.mkdtemp(prefix="proctor-demo-"))
    agents = {agent.name: agent for agent in suite.agents}
    first, *others = suite.spec.demo
    click.echo(f"{suite.spec.title or suite.spec.name}\n")
    click.echo(f"1. The {first} agent: {agents[first].what}.")
    good = _run(suite, first, folder, seed)
    click.echo(scorecard(good.report, folder=str(good.folder), style=style_for()))
    click.echo("2. Agents with one planted fault each: every one must be blocked, for its own fault.\n")
    caught = 0
    for name in others:
        bad = _run(suite, name, folder, seed)
        caught += bad.report["verdict"] == "BLOCK"
        click.echo(f"  {name}: {agents[name].what}")
        click.echo(incident(bad.report, wanted=agents[name].caught_by, namespace=suite.spec.name, style=style_for()))
        click.echo(f"      proctor show {bad.folder}\n")
    click.echo(f"{good.report['verdict']} for the {first} agent; {caught} of {len(others)} defective agents blocked.")
    click.echo(f"Runs, records and reports: {folder}")
    return 0 if good.verdict.exit_code == 0 and caught == len(others) else 1


def _demo_suite() -> Suite:
    for name in builtin_suites():
        suite = load_suite(name)
        if suite.spec.demo:
            return suite
    raise UsageError("no suite that ships has a demo", expected="`demo` in a suite.toml")


def _run(suite: Suite, agent: str, folder: Path, seed: int) -> FinishedRun:
    request = RunRequest(suite=str(suite.folder), agent=f"builtin:{agent}", seed=seed, out=folder / agent)
    return run_suite(request, on_cell=progress_to(quiet=False))
