"""What a run spent, as text: status, totals, claims, by slice, by cell and attempt, and each run's chain. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import shorten

__all__ = ["spent_text"]

_MOST_CELLS = 40
_MEANINGS = {
    "verified": "every request is accounted for",
    "unknown": "not every request is known to be covered: no total",
    "invalid": "the records contradict each other: no total",
}


def spent_text(section: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], chains: str) -> str:
    """The ``usage`` part of a report, its cells, and the drawn chains, in at most 80 columns."""
    totals = section["totals"]
    failed = section["failed_attempts"]
    lines = [
        f"usage     {section['status']}: {_MEANINGS[section['status']]}",
        f"tokens    {_count(None if totals is None else totals['total_tokens'])}"
        f"   requests {_count(None if totals is None else totals['requests'])}",
        f"claimed   {_claimed(section['claimed'])}",
        f"attempts  {section['attempts']}, of them {section['retries']} retries and {len(failed)} failed",
        *(f"          failed: {shorten(name, 60)}" for name in failed[:10]),
        "",
        "slice                          attempts        tokens  claimed",
    ]
    lines += [
        f"{shorten(name, 28):<28}  {row['attempts']:>9}  {_count(row['tokens']):>12}  {_claimed(row['claimed'])}"
        for name, row in section["by_slice"].items()
    ]
    lines += ["", "cell                           attempts        tokens  claimed tokens  seconds"]
    lines += [_cell(cell) for cell in cells[:_MOST_CELLS]]
    if len(cells) > _MOST_CELLS:
        lines.append(f"… and {len(cells) - _MOST_CELLS} more cells (--json lists all)")
    return "\n".join([*lines, *(["", "chains", chains] if chains else [])])


def _cell(cell: Mapping[str, Any]) -> str:
    usage = cell["usage"]
    name = shorten(f"{cell['case_id']}/{cell['run']}", 28)
    seconds = "unknown" if usage["seconds"] is None else f"{usage['seconds']:.2f}"
    return (
        f"{name:<28}  {cell['attempts']:>9}  {_count(usage['tokens']):>12}"
        f"  {_count(usage.get('claimed_tokens')):>14}  {seconds:>7}"
    )


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _claimed(claimed: Mapping[str, Any] | None) -> str:
    if claimed is None:
        return "nothing"
    return f"{claimed['requests']:,} requests, {_count(claimed['tokens'])} tokens"
