"""``proctor dataset diff OLD NEW`` and ``proctor dataset split DATASET``: versions of datasets, and holdouts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from proctor.clock import SystemClock
from proctor.errors import shorten
from proctor.ledger.keys import install_signer
from proctor.runner.datasets import compare_versions, split_dataset
from proctor.suite.difference import DatasetDifference

__all__ = ["dataset"]


@click.group()
def dataset() -> None:
    """Compare versions of a dataset, and split off a holdout."""


@dataset.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def diff(old: Path, new: Path, as_json: bool) -> int:
    """List the cases that were added, removed, edited and relabelled from OLD to NEW.

    Why a case was relabelled, by whom, and whether it was reviewed stands beside NEW, in NEW's .meta.jsonl.

    Exit codes: 0 every relabel has its reason and no case is disputed, 1 otherwise, 2 unusable input.
    """
    found = compare_versions(old, new)
    if as_json:
        document = {**msgspec.to_builtins(found), "unexplained": found.unexplained}
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1))
    else:
        click.echo("\n".join(_lines(found)))
    return 1 if found.unexplained or found.disputed else 0


@dataset.command()
@click.argument("source", metavar="DATASET", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder that doesn't exist, or is empty.")
@click.option("--salt", required=True, help="Decides, with a group's name, where the group goes.")
@click.option("--holdout", "share", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2)
@click.option("--budget", type=click.IntRange(1), default=10, help="How often the holdout may be used. [default: 10]")
@click.option("--workspace", type=click.Path(path_type=Path), default=Path("runs"), help="[default: runs]")
def split(source: Path, out: Path, salt: str, share: float, budget: int, workspace: Path) -> int:
    """Split DATASET into development.jsonl and holdout.jsonl, by group: near-copies never straddle.

    Groups come from the dataset's .meta.jsonl, or from a row's own `group`. The same salt gives the same split, and
    cases that are added later leave the others where they are. The workspace counts the holdout's uses.
    """
    made = split_dataset(
        source,
        out,
        salt=salt,
        share=share,
        budget=budget,
        workspace=workspace,
        signer=install_signer(os.environ),
        clock=SystemClock(),
    )
    for name in ("development", "holdout"):
        click.echo(f"{name}: {made.cases[name]} cases in {made.groups[name]} groups")
    click.echo(f"the holdout may be used {budget} times; {workspace} counts")
    return 0


def _lines(found: DatasetDifference) -> Iterator[str]:
    yield from (f"added       {shorten(case)}" for case in found.added)
    yield from (f"removed     {shorten(case)}" for case in found.removed)
    yield from (f"edited      {shorten(edit.id)}: {shorten(', '.join(edit.fields))}" for edit in found.edited)
    for change in found.relabelled:
        yield f"relabelled  {shorten(change.id)} ({change.review}, by {shorten(change.annotator or 'unknown')})"
        yield f"    from    {shorten(change.before, 100)}"
        yield f"    to      {shorten(change.after, 100)}"
        yield f"    reason  {shorten(change.reason or 'none was given, and a relabel needs one', 200)}"
    yield from (f"disputed    {shorten(case)}: may not count as truth until it is settled" for case in found.disputed)
    yield (
        "no difference"
        if found.is_same
        else f"{len(found.added)} added, {len(found.removed)} removed, {len(found.edited)} edited,"
        f" {len(found.relabelled)} relabelled ({len(found.unexplained)} without a reason)"
    )
