"""The edge: a table of outcomes, a report or a run's folder as what the gate is told, so that no suite is
needed.

Without a plan a table is its own plan: rows that were taken out of it can't be seen, and the notes say so.
Leaves out verifying evidence; whoever did that passes ``facts`` to the gate.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from proctor.codec.json_strict import parse_json
from proctor.codec.jsonl import read_jsonl
from proctor.codec.models import convert
from proctor.comparison.columns import Columns
from proctor.comparison.load import Loaded, load_grid, load_plan
from proctor.comparison.model import PlanRules, ScoredCell, ScoredGrid
from proctor.errors import InputError, Place
from proctor.gate.cells import CellResult, PlannedCell
from proctor.kinds import Outcome
from proctor.score.cells import CellRecord

__all__ = ["GateInput", "gate_input"]


class GateInput(msgspec.Struct, frozen=True, kw_only=True):
    """Planned cells, how they ended, and the digest of the rules that were registered for them (None: none
    were).
    """

    name: str
    planned: tuple[PlannedCell, ...]
    cells: tuple[CellResult, ...]
    registered_digest: str | None = None
    registered_rules: dict[str, Any] | None = None
    columns: Columns | None = None
    notes: tuple[str, ...] = ()


def gate_input(
    source: str | Path, columns: Columns, *, plan: PlanRules | None = None, pass_at: float | None = None
) -> GateInput:
    """What the gate is told about ``source``. Raises ``InputError`` with file, line and field."""
    path = Path(source)
    if path.is_dir() and (path / "plan.json").is_file() and (path / "cells.jsonl").is_file():
        return _run(path)
    loaded = load_grid(path, columns, pass_at=pass_at)
    return _of_grid(loaded, plan)


def _run(path: Path) -> GateInput:
    """A run's own cells with their codes and metrics; the plan's rules are the registered ones."""
    file = path / "plan.json"
    document = parse_json(file.read_bytes(), file=str(file))
    rules = load_plan(file, Columns())
    digest, table = document.get("gate_digest"), document.get("gate")
    cells = []
    for line, row in read_jsonl(path / "cells.jsonl"):
        record = convert(row, CellRecord, place=_places(str(path / "cells.jsonl"), line), error=InputError)
        cells.append(_of_record(record))
    return GateInput(
        name=str(path),
        planned=rules.cells,
        cells=tuple(cell for cell in cells if cell.outcome is not Outcome.MISSING),
        registered_digest=digest if isinstance(digest, str) else None,
        registered_rules=table if isinstance(table, dict) else None,
        notes=("the record isn't verified here: proctor verify does that",),
    )


def _places(file: str, line: int) -> Callable[[str], Place]:
    return lambda field: Place(file, line, field or None)


def _of_record(record: CellRecord) -> CellResult:
    return CellResult(
        case=record.case_id,
        run=record.run,
        outcome=record.outcome,
        codes=record.codes,
        critical=record.critical,
        metrics={metric.name: (metric.numerator, metric.denominator) for metric in record.metrics},
        tokens=record.usage.tokens,
        cost_usd=record.usage.usd,
    )


def _of_grid(loaded: Loaded, plan: PlanRules | None) -> GateInput:
    grid = loaded.grid
    notes = list(grid.notes)
    if plan is not None:
        planned = plan.cells
    else:
        numbers = _run_numbers(grid)
        planned = tuple(
            PlannedCell(case=c.case, run=numbers[c.case, c.run], slice=c.slice, group=c.group)
            for c in sorted(grid.cells, key=lambda c: (c.case, numbers[c.case, c.run]))
        )
        if not grid.witnessed:
            notes.append("the file is its own plan: rows taken out of it can't be seen; --plan fixes the denominator")
    numbers = _run_numbers(grid) if plan is None else {}
    cells = tuple(_of_cell(cell, numbers, grid.name) for cell in grid.cells if not cell.missing)
    return GateInput(name=grid.name, planned=planned, cells=cells, columns=loaded.columns, notes=tuple(notes))


def _run_numbers(grid: ScoredGrid) -> dict[tuple[str, int | str], int]:
    """A number for each run: its own, or where runs have names, its place among the names of its case."""
    if all(isinstance(cell.run, int) for cell in grid.cells):
        return {(cell.case, cell.run): int(cell.run) for cell in grid.cells}
    names: dict[str, list[int | str]] = {}
    for cell in grid.cells:
        names.setdefault(cell.case, []).append(cell.run)
    return {(case, run): n for case, runs in names.items() for n, run in enumerate(sorted(runs, key=str), start=1)}


def _of_cell(cell: ScoredCell, numbers: dict[tuple[str, int | str], int], name: str) -> CellResult:
    run = numbers.get((cell.case, cell.run), cell.run)
    if not isinstance(run, int):
        raise InputError(
            "a run that is no number", place=Place(name, field=f"{cell.case}/{run}"), expected="a run of the plan"
        )
    outcome = Outcome.PASSED if cell.value == 1 else Outcome.FAILED
    if cell.unresolved or cell.value is None:
        outcome = Outcome.INFRA_ERROR if cell.unresolved else Outcome.GRADER_ERROR
    return CellResult(
        case=cell.case,
        run=run,
        outcome=outcome,
        codes=cell.codes,
        tokens=None if cell.tokens is None else int(cell.tokens),
        cost_usd=cell.cost_usd,
    )
