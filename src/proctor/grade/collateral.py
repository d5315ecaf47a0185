"""``grade_collateral``: nothing changed that the task didn't ask for. Pure, usable alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.grade.casefile import FinalState, state_of
from proctor.grade.keys import AllowedChange, Key, read_key, required
from proctor.grade.model import Finding, Grade
from proctor.worlds.state import Change, diff_states

__all__ = ["grade_collateral"]

_MOST_FINDINGS = 200


def grade_collateral(before: FinalState, after: FinalState, key: Key | Mapping[str, Any]) -> Grade:
    """``unexpected_change`` for every changed, added or removed row that no entry of ``allowed_changes`` covers; of a
    changed row, ``field`` names the columns that were not to change. Several entries may cover one row together."""
    allowed = [_entry(entry) for entry in required(read_key(key).allowed_changes, "allowed_changes")]
    findings = []
    for change in diff_states(state_of(before), state_of(after)):
        wrong = _not_covered(change, allowed)
        if wrong is None:
            continue
        field = f"{change.table}.{', '.join(wrong)}" if wrong else change.table
        findings.append(
            Finding(
                code="unexpected_change",
                detail=f"{field} was not to change",
                field=field,
                expected=change.before,
                found=change.after,
            )
        )
    return Grade(grader="collateral", findings=tuple(findings[:_MOST_FINDINGS]))


def _entry(entry: AllowedChange | str) -> AllowedChange:
    if isinstance(entry, AllowedChange):
        return entry
    table, dot, column = entry.partition(".")
    if dot:
        return AllowedChange(table=table, columns=(column,))
    return AllowedChange(table=table, rows=("changed", "added", "removed"))


def _not_covered(change: Change, allowed: list[AllowedChange]) -> list[str] | None:
    """The columns that no entry covers, an empty list for a whole row, None where all is covered."""
    rows = [row for row in (change.before, change.after) if row is not None]
    kind = "changed" if len(rows) == 2 else "added" if change.before is None else "removed"
    fitting = [
        entry
        for entry in allowed
        if entry.table == change.table
        and kind in entry.rows
        and all(row.get(name) == value for row in rows for name, value in entry.where.items())
    ]
    if change.before is None or change.after is None:
        return None if fitting else []
    if any(entry.columns is None for entry in fitting):
        return None
    old, new = change.before, change.after
    covered = {column for entry in fitting for column in entry.columns or ()}
    wrong = sorted(n for n in old.keys() | new.keys() if n not in covered and old.get(n) != new.get(n))
    return wrong or None
