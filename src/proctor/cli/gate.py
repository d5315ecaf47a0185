"""``proctor gate RESULTS --policy gate.toml``: hold recorded outcomes against a gate, with or without a
suite.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.columns import column_options
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.comparison.gating import GateInput
    from proctor.gate.model import Policy

__all__ = ["gate"]


@click.command(name="gate", short_help="Hold recorded outcomes against a gate.")
@click.argument("results")
@click.option("--policy", metavar="FILE", help="gate.toml, or a suite.toml with [gate]. [default: the run's own]")
@click.option("--plan", metavar="FILE", help="Planned cells (plan.json, or a table): they are the denominator.")
@column_options
@click.option("--list", "listed", type=click.IntRange(0), default=5, show_default=True, help="Cells to list a rule.")
@click.option("--json", "as_json", is_flag=True, help="The whole decision as JSON.")
def gate(results: str, *, policy: str | None, plan: str | None, listed: int, as_json: bool, **options: Any) -> int:
    """Hold RESULTS against a gate: a table (.csv, .tsv, .jsonl, .parquet), a report.json, or a run's folder.

    Rules on reason codes and metrics need a report or a run; a table knows passed and failed, slices and
    runs.

    \b
    Exit code: 0 PASS · 1 BLOCK · 2 INVALID or unusable input · 3 UNDECIDED
    """
    from proctor.comparison.columns import ROLES, Columns  # noqa: PLC0415 - heavy, off the --help path
    from proctor.comparison.gating import gate_input  # noqa: PLC0415
    from proctor.comparison.load import load_plan  # noqa: PLC0415
    from proctor.gate.decide import decide  # noqa: PLC0415
    from proctor.gate.text import render_decision  # noqa: PLC0415

    columns = Columns(**{role: options[role] for role in ROLES})
    planned = load_plan(plan, columns) if plan is not None else None
    told = gate_input(results, columns, plan=planned, pass_at=options["pass_at"])
    rules = _policy(policy, told)
    if told.columns is not None:
        click.echo(f"{results}: {told.columns.described()} ({len(told.cells):,} results)", err=True)
    decision = decide(rules, told.cells, planned=told.planned, registered_digest=told.registered_digest)
    for note in told.notes:
        click.echo(f"note: {note}", err=True)
    if as_json:
        click.echo(json.dumps(decision.to_dict(), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False))
    else:
        click.echo(render_decision(decision, cells=listed), nl=False)
    return decision.verdict.exit_code


def _policy(file: str | None, told: GateInput) -> Policy:
    """The named gate, else the one that the run's plan registered."""
    from proctor.codec.toml_places import read_toml  # noqa: PLC0415 - off the --help path
    from proctor.errors import Place, SuiteError  # noqa: PLC0415
    from proctor.gate.policy import parse_policy  # noqa: PLC0415

    if file is None:
        if told.registered_rules is None:
            raise UsageError(
                "no gate is named", expected="--policy gate.toml", fix="write for example: overall = { rate = 0.9 }"
            )
        return parse_policy(told.registered_rules, Place(told.name, field="gate"))
    values, place = read_toml(Path(file))
    inside = isinstance(values.get("gate"), dict)
    try:
        return parse_policy(values["gate"] if inside else values, Place(file, field="gate" if inside else None))
    except SuiteError as fault:
        raise SuiteError(
            fault.problem,
            place=place(fault.place.field or "") if fault.place else None,
            expected=fault.expected,
            found=fault.found,
            fix=fault.fix,
            code=fault.code,
        ) from None
