"""``proctor compare OLD NEW``: is the candidate worse, better, or can't this many cells tell?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.columns import column_options
from proctor.cli.options import SEED
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.comparison.model import Comparison

__all__ = ["compare"]


@click.command(name="compare", short_help="Compare a candidate's results with a baseline's.")
@click.argument("old")
@click.argument("new")
@column_options
@click.option("--old-where", metavar="COLUMN=VALUE", help="Only these rows of OLD (one file, several candidates).")
@click.option("--new-where", metavar="COLUMN=VALUE", help="Only these rows of NEW.")
@click.option("--plan", metavar="FILE", help="Planned cells (plan.json, or a table): they are the denominator.")
@click.option("--margin", type=float, metavar="X", help="How much worse is still fine: 0.02 is two points.")
@click.option(
    "--interval",
    type=click.Choice(["clustered", "percentile", "bca"]),
    default="clustered",
    show_default=True,
    help="CR1, or a paired cluster bootstrap.",
)
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    show_default=True,
    help="Adjustment of the slices' p-values.",
)
@click.option("--resamples", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True)
@click.option("--seed", type=SEED, default=20_240_611, show_default=True, help="Of the bootstrap.")
@click.option("--list", "listed", type=click.IntRange(0), default=5, show_default=True, help="Cases to list.")
@click.option("--allow-incomparable", is_flag=True, help="Compare although datasets or rules differ; is stamped.")
@click.option("--json", "as_json", is_flag=True, help="The whole answer as JSON.")
def compare(old: str, new: str, *, as_json: bool, listed: int, **options: Any) -> int:
    """Compare the results NEW of a candidate with the results OLD of a baseline.

    Each is a table (.csv, .tsv, .jsonl, .parquet) with a row for each case and run, a report.json, or a run's
    folder. Columns are guessed and printed; the options override them.

    Without --plan the cells of both files are the plan. A cell that one of them lacks counts as failed there.

    \b
    Exit code: 0 better, or not worse by more than the margin · 1 worse
               2 unusable input · 3 can't tell
    """
    from proctor.comparison.text import render  # noqa: PLC0415 - heavy, off the --help path

    comparison: Comparison = _compare(old, new, options)
    if as_json:
        click.echo(json.dumps(comparison.to_dict(), ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False))
    else:
        click.echo(render(comparison, cases=listed), nl=False)
    return comparison.exit_code


def _compare(old: str, new: str, options: dict[str, Any]) -> Comparison:
    """Load both, say which columns were taken, compare."""
    from proctor.comparison.columns import ROLES, Columns  # noqa: PLC0415 - heavy, off the --help path
    from proctor.comparison.load import load_grid, load_plan  # noqa: PLC0415
    from proctor.comparison.measure import Method, compare_grids  # noqa: PLC0415

    columns = Columns(**{role: options[role] for role in ROLES})
    chosen = [_where(options[name], name) for name in ("old_where", "new_where")]
    loaded = [
        load_grid(path, columns, pass_at=options["pass_at"], where=where)
        for path, where in zip((old, new), chosen, strict=True)
    ]
    for path, side in zip((old, new), loaded, strict=True):
        if side.columns is not None:
            click.echo(f"{path}: {side.columns.described()} ({len(side.grid.cells):,} rows)", err=True)
    method = Method(
        interval=options["interval"],
        adjustment=options["adjust"],
        resamples=options["resamples"],
        seed=options["seed"],
        allow_incomparable=options["allow_incomparable"],
    )
    plan = load_plan(options["plan"], columns) if options["plan"] else None
    return compare_grids(loaded[0].grid, loaded[1].grid, plan=plan, margin=options["margin"], method=method)


def _where(text: str | None, name: str) -> tuple[str, str] | None:
    if text is None:
        return None
    column, equals, value = text.partition("=")
    if not column or not equals:
        option = "--" + name.replace("_", "-")
        raise UsageError(f"{option} names no column", expected=f"{option} COLUMN=VALUE", found=text)
    return column, value
