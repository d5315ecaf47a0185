"""``proctor suite show SUITE``: what is in a suite, and what its agents are told."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

import click
import msgspec

from proctor.cli.options import SEED
from proctor.errors import shorten
from proctor.gate.judge import asks
from proctor.runner.verdict import gate_policy
from proctor.suite.load import Suite, load_suite
from proctor.suite.model import Case
from proctor.worlds.probe import OperationFacts, WorldProbe
from proctor.worlds.remote import RemoteWorld

__all__ = ["show"]


@click.command()
@click.argument("suite")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of generated cases.")
@click.option("--tools", "as_tools", is_flag=True, help="Print the tools as agents are told of them, as JSON.")
def show(suite: str, seed: int, as_tools: bool) -> int:
    """Show SUITE: tools and tables, cases by slice, the gate's rules, and the agents that ship with it."""
    loaded = load_suite(suite)
    if as_tools:
        with contextlib.closing(RemoteWorld(loaded.folder, loaded.spec.world)) as world:
            click.echo(msgspec.json.format(msgspec.json.encode(world.tools), indent=1))
        return 0
    with contextlib.closing(WorldProbe(loaded.folder, loaded.spec.world)) as probe:
        facts = probe.facts
    cases = loaded.cases(seed)
    spec = loaded.spec
    click.echo(f"{spec.name} {spec.version}  {spec.title}".rstrip())
    click.echo(f"  {loaded.folder}")
    click.echo("\ntools")
    for tool in facts.tools:
        click.echo(_operation(tool, forbidden=tool.name in spec.contract.forbid))
    if facts.events:
        click.echo("\nevents")
        for event in facts.events:
            click.echo(_operation(event, forbidden=False))
    click.echo("\ntables")
    for table, columns in facts.columns.items():
        click.echo(f"  {table}({', '.join(columns)})")
    _cases(cases, spec.runs)
    _judged(loaded)
    return 0


def _operation(operation: OperationFacts, *, forbidden: bool) -> str:
    reads = [table for table in operation.reads if table not in operation.writes]
    touched = [f"reads {' '.join(reads)}"] if reads else []
    touched += [f"writes {' '.join(operation.writes)}"] if operation.writes else []
    refused = ["offered only to be refused"] if forbidden else []
    return f"  {operation.name}({', '.join(operation.parameters)})  {' · '.join([*touched, *refused])}".rstrip()


def _cases(cases: tuple[Case, ...], runs: int) -> None:
    slices = Counter(case.slice for case in cases)
    groups = {case.group or f"case {case.id}" for case in cases}
    parts = (_count(len(cases), "case"), _count(len(groups), "group"), _count(runs, "run"))
    click.echo("\n{} in {} × {} = {}".format(*parts, _count(len(cases) * runs, "cell")))
    for name, n in sorted(slices.items()):
        ids = [case.id for case in cases if case.slice == name]
        click.echo(f"  {name}: {n}  ({shorten(', '.join(ids), 80)})")


def _judged(suite: Suite) -> None:
    click.echo("\ngraders")
    click.echo(f"  {', '.join(suite.spec.graders)}")
    click.echo("\ngate")
    policy = gate_policy(suite)
    for rule in policy.rules:
        click.echo(f"  {asks(rule)}")
    if policy.margin is not None:
        click.echo(f"  compared with a baseline: no more than {policy.margin:g} worse")
    limits: dict[str, Any] = {k: v for k, v in msgspec.to_builtins(suite.spec.budget).items() if v is not None}
    if limits:
        click.echo("\nbudget of a cell")
        click.echo(f"  {', '.join(f'{value:g} {name}' for name, value in limits.items())}")
    if suite.agents:
        click.echo("\nagents")
        for agent in suite.agents:
            click.echo(f"  builtin:{agent.name}  {agent.role}  {agent.what}")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
