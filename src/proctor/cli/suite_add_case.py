"""``proctor suite add-case --from RUN CELL``: a case made from a recorded run, for review."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from proctor.errors import Place, UsageError
from proctor.runner.record import RunRecord
from proctor.runner.recorded_case import parse_cell, recorded_case
from proctor.suite.load import load_suite, parse_case

__all__ = ["add_case"]


@click.command("add-case")
@click.option("--from", "run", type=click.Path(path_type=Path), required=True, metavar="RUN", help="The run's folder.")
@click.argument("cell")
@click.option("--id", "case_id", help="The new case's id. [default: CASE-rRUN]")
@click.option("--to", "suite", help="Append it to this suite's cases. [default: print it]")
def add_case(run: Path, cell: str, case_id: str | None, suite: str | None) -> int:
    """Make a case from the recorded CELL (CASE/RUN) of RUN: its start state, its user, and what the agent left.

    What it expects is what that agent did. Read it before you trust it.
    """
    record = RunRecord(run)
    chosen = parse_cell(cell, record)
    row = recorded_case(record, chosen, case_id=case_id or f"{chosen.case_id}-r{chosen.run}")
    parse_case(row, Place(f"{run}: {chosen}"))
    line = msgspec.json.encode(row)
    if suite is None:
        click.echo(line)
        return 0
    path = _cases_file(suite, str(row["id"]))
    data = path.read_bytes()
    with path.open("ab") as stream:
        stream.write((b"" if data.endswith(b"\n") or not data else b"\n") + line + b"\n")
    number = data.count(b"\n") + 1 if data.endswith(b"\n") or not data else data.count(b"\n") + 2
    click.echo(f"added {row['id']} as line {number} of {path}")
    click.echo("review what it expects, then: proctor suite check " + suite, err=True)
    return 0


def _cases_file(suite: str, case_id: str) -> Path:
    loaded = load_suite(suite)
    if loaded.has_generator:
        raise UsageError(
            "the suite's cases come from a generator",
            place=loaded.place("cases"),
            expected="a file of cases, such as cases.jsonl",
            found=loaded.spec.cases,
            fix="print the case without --to, and add it to the generator",
        )
    if case_id in {case.id for case in loaded.cases(1)}:
        raise UsageError(
            f"the suite has a case {case_id} already",
            expected="an id of its own",
            found=case_id,
            fix="choose another with --id",
        )
    return loaded.folder / loaded.spec.cases
