"""A case made from a recorded cell: it starts from the recorded state, and expects what the recorded agent left.

What it expects is a proposal: whether the agent did right is for a person to say.
"""

from __future__ import annotations

from typing import Any

import msgspec

from proctor.errors import UsageError
from proctor.runner.record import RunRecord
from proctor.suite.plan import Cell
from proctor.worlds.state import State, diff_states, open_bytes, read_state

__all__ = ["parse_cell", "recorded_case"]


def parse_cell(text: str, record: RunRecord) -> Cell:
    """``R07/2`` as a cell of the run; ``R07`` is its first run. Raises ``UsageError``."""
    case_id, slash, run = text.rpartition("/")
    cell = Cell(case_id, int(run)) if slash and run.isdecimal() else Cell(text, 1)
    if cell not in set(record.plan.cells()):
        cells = [str(planned) for planned in record.plan.cells()]
        raise UsageError(
            f"the run has no cell {text}",
            expected=", ".join(cells[:10]) + (" …" if len(cells) > 10 else ""),
            found=text,
        )
    return cell


def recorded_case(record: RunRecord, cell: Cell, *, case_id: str) -> dict[str, Any]:
    """The case as a row for ``cases.jsonl``: what was given to agent and world as it was run, ``setup`` from the
    recorded start state, ``expect`` from the tables that changed, ``answer`` from the recorded answer.

    Raises ``UsageError`` where the cell left no final state.
    """
    left = record.recorded(cell)
    if left is None or left.before is None or left.after is None:
        raise UsageError(f"the cell {cell} left no final state", expected="a cell whose attempt came to its end")
    case = record.cases[cell.case_id]
    before, after = read_state(open_bytes(left.before)), read_state(open_bytes(left.after))
    given = msgspec.to_builtins(case)
    row: dict[str, Any] = {"id": case_id, "slice": case.slice}
    for name in ("group", "task", "input"):
        if given[name] is not None:
            row[name] = given[name]
    if case.user:
        row["user"] = given["user"]
    row["setup"] = _rows(before, {table for table, rows in before.tables.items() if rows})
    if case.cycles > 1:
        row["cycles"] = case.cycles
    for name in ("events", "faults"):
        if given[name]:
            row[name] = given[name]
    row["expect"] = _rows(after, {change.table for change in diff_states(before, after)})
    answer = next((a for a in reversed(left.answers) if a is not None), None)
    if isinstance(answer, dict):
        row["answer"] = answer
    return row


def _rows(state: State, tables: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Those tables' rows, without columns that are null."""
    return {
        table: [{name: value for name, value in row.items() if value is not None} for row in state.tables[table]]
        for table in sorted(tables)
    }
