"""``proctor suite check SUITE``: every mistake, with file, line and fix; the floor; a good agent's chance."""

from __future__ import annotations

import click
import msgspec

from proctor.checking.check import check_suite
from proctor.checking.model import SuiteCheck
from proctor.cli.options import SEED

__all__ = ["check"]


@click.command()
@click.argument("suite")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of generated cases.")
@click.option("--json", "as_json", is_flag=True, help="Print everything that was found as JSON.")
def check(suite: str, seed: int, as_json: bool) -> int:
    """Check SUITE (a folder, or the name of one that ships) before any agent runs.

    Exit codes: 0 no mistake (there may be warnings), 2 mistakes.
    """
    found = check_suite(suite, seed=seed)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))
        return found.exit_code
    for line in _lines(found):
        click.echo(line)
    return found.exit_code


def _lines(found: SuiteCheck) -> list[str]:
    warnings = len(found.mistakes) - found.n_mistakes
    lines = [f"{mistake.level}  {mistake.text}" for mistake in found.mistakes]
    why = "because of the mistakes" if found.n_mistakes else "the suite has nothing to run"
    counts = f"{found.suite}: {_count(found.n_mistakes, 'mistake')}, {_count(warnings, 'warning')}"
    planned = found.cases * found.runs
    lines += ["", counts] if lines else [counts]
    lines.append(
        f"  {_count(found.cases, 'case')} in {_count(found.groups, 'group')}, {_count(planned, 'cell')} planned"
    )
    if found.floor is None:
        lines.append(f"  do-nothing floor: not worked out, {why}")
    else:
        lines.append(f"  do-nothing floor: {found.floor.passed} of {found.floor.total} cases pass if nothing is done")
    chance = found.chance
    if chance is None:
        lines.append(f"  chance of a 98% agent: not worked out, {why}")
    else:
        hardest = f"; hardest rule: {chance.hardest}" if chance.hardest else ""
        lines.append(
            f"  an agent that passes 98% of its cells passes this gate in {chance.chance:.0%} of runs{hardest}"
        )
        lines.append(f"    ({chance.assumes})")
    return lines


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
