"""The edge: a file, a run's folder, a report or a data frame becomes a ``ScoredGrid``; a plan file
``PlanRules``.

Anything that has a ``scored_grid()`` method is taken as it is: that is how a run joins in. Leaves out
comparing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from proctor.codec.canonical import digest_bytes
from proctor.codec.json_strict import parse_json
from proctor.comparison.cells import cells_of_rows
from proctor.comparison.columns import Columns, guess_columns
from proctor.comparison.model import Identity, PlanRules, ScoredCell, ScoredGrid
from proctor.comparison.rows import read_table
from proctor.errors import InputError, Place, UsageError
from proctor.gate.cells import PlannedCell
from proctor.kinds import Outcome

__all__ = ["Loaded", "Where", "grid_of_report", "grid_of_rows", "load_grid", "load_plan"]

_IDENTITY: Final = {
    "dataset": ("dataset_digest", "dataset_sha256"),
    "grader": ("grader_version",),
    "rules": ("suite_digest", "budget_digest"),
    "plan": ("plan_digest",),
}


Row: TypeAlias = tuple[int, Mapping[str, Any]]
Where: TypeAlias = tuple[str, str]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A grid, and the columns it was read from (None where nothing was guessed)."""

    grid: ScoredGrid
    columns: Columns | None = None


def load_grid(
    source: Any, columns: Columns, *, name: str = "", pass_at: float | None = None, where: Where | None = None
) -> Loaded:
    """A grid from whatever ``source`` is: a path, a data frame, rows as mappings, or a run.

    ``where`` keeps a table's rows with this value in this column only (one file that holds several
    candidates). Raises ``InputError`` with file, line and field, ``UsageError`` for something that is none of
    these.
    """
    if isinstance(source, ScoredGrid):
        return Loaded(grid=source)
    if isinstance(source, (str, Path)):
        return _load_path(Path(source), columns, pass_at, where)
    given = getattr(source, "scored_grid", None)
    if callable(given):
        grid = given()
        if isinstance(grid, ScoredGrid):
            return Loaded(grid=grid)
    report = _report_of(source)
    if report is not None:
        return Loaded(grid=grid_of_report(report, name or "report"))
    rows: Iterable[Row] = enumerate(_rows_of(source), start=1)
    if where is not None:
        rows = _only(rows, where)
    return grid_of_rows(list(rows), columns, name or "rows", pass_at=pass_at)


def _only(rows: Iterable[Row], where: Where) -> Iterator[Row]:
    column, value = where
    return ((line, row) for line, row in rows if str(row.get(column, "")).strip() == value)


def grid_of_rows(rows: list[Row], columns: Columns, name: str, *, pass_at: float | None = None) -> Loaded:
    """A grid from rows with their lines; columns that aren't chosen are guessed."""
    names = tuple(dict.fromkeys(str(key) for _, row in rows for key in row))
    return _grid(rows, names, columns, name, pass_at)


def _grid(
    rows: Iterable[Row],
    names: tuple[str, ...],
    columns: Columns,
    name: str,
    pass_at: float | None,
) -> Loaded:
    if not names:
        return Loaded(
            grid=ScoredGrid(name=name, cells=(), notes=(f"{name}: no row, so every planned cell is missing",))
        )
    found = guess_columns(names, name, columns)
    cells, notes = cells_of_rows(rows, found, name, pass_at=pass_at)
    for role in ("slice", "group"):
        if getattr(columns, role) is None and getattr(found, role) is not None and not _is_by_case(cells, role):
            notes.append(f"{name}: column {getattr(found, role)!r} changes within a case, so it is no {role}")
            found = msgspec.structs.replace(found, **{role: None})
            cells = [msgspec.structs.replace(cell, **{role: None}) for cell in cells]
    return Loaded(grid=ScoredGrid(name=name, cells=tuple(cells), notes=tuple(notes)), columns=found)


def _is_by_case(cells: Iterable[ScoredCell], role: str) -> bool:
    known: dict[str, str | None] = {}
    return all(known.setdefault(cell.case, getattr(cell, role)) == getattr(cell, role) for cell in cells)


def _load_path(path: Path, columns: Columns, pass_at: float | None, where: Where | None) -> Loaded:
    table_suffix = path.suffix.lower() != ".json" and not path.is_dir()
    if where is not None and not table_suffix:
        raise UsageError("only a table's rows can be chosen", expected="a table", found=str(path))
    if path.is_dir():
        report = path / "report.json"
        if not report.is_file():
            raise InputError(
                "no report in this folder",
                place=Place(str(path)),
                expected="a run's folder with report.json",
                fix="give a run, a report, or a table of results",
            )
        return Loaded(grid=_load_report(report, path / "plan.json", str(path)))
    if path.suffix.lower() == ".json":
        return Loaded(grid=_load_report(path, path.parent / "plan.json", str(path)))
    table = read_table(path)
    if where is None:
        return _grid(table.rows, table.columns, columns, str(path), pass_at)
    if where[0] not in table.columns:
        raise InputError(
            f"no column {where[0]!r}",
            place=Place(str(path)),
            expected=f"one of {', '.join(table.columns[:20])}",
        )
    name = f"{where[1]} of {path}"
    chosen = list(_only(table.rows, where))
    if not chosen:
        raise InputError(f"no row with {where[0]} {where[1]!r}", place=Place(str(path)), expected="at least one row")
    return _grid(chosen, table.columns, columns, name, pass_at)


def _load_report(path: Path, plan: Path, name: str) -> ScoredGrid:
    margin, digest = None, None
    if plan.is_file():
        raw = _read(plan)
        digest, document = digest_bytes(raw), parse_json(raw, file=str(plan))
        margin = _margin(document) if isinstance(document, dict) else None
    grid = grid_of_report(parse_json(_read(path), file=str(path)), name)
    if digest is not None and grid.identity.plan == digest:
        return msgspec.structs.replace(grid, margin=margin)
    return grid


def grid_of_report(report: Any, name: str) -> ScoredGrid:
    """A grid from a scored report as plain values: ``cells`` of ``case_id``, ``run``, ``slice``,
    ``passed``.
    """
    if not isinstance(report, Mapping) or not isinstance(report.get("cells"), list):
        raise InputError("no report", place=Place(name), expected='a JSON object with a list "cells"', found=report)
    identity = {field: _identity(report, field, name) for field in ("dataset", "grader", "rules", "plan")}
    cells = tuple(_reported(cell, Place(name, field=f"cells[{i}]")) for i, cell in enumerate(report["cells"]))
    gate = report.get("gate")
    return ScoredGrid(
        name=name,
        cells=cells,
        identity=Identity(**identity, cells=_planned_cells(cells)),
        gate=gate if isinstance(gate, str) else None,
        witnessed=isinstance(report.get("run"), Mapping),
    )


def _planned_cells(cells: Sequence[ScoredCell]) -> str:
    names = sorted(f"{cell.case}/{cell.run}" for cell in cells)
    return f"{len(names)} cells, {digest_bytes(chr(10).join(names).encode())[:19]}"


def _identity(report: Mapping[str, Any], field: str, name: str) -> str | None:
    for key in _IDENTITY[field]:
        value = report.get(key)
        if value is not None:
            if not isinstance(value, str):
                raise InputError("an odd value", place=Place(name, field=key), expected="a text", found=value)
            return value
    return None


def _reported(cell: Any, place: Place) -> ScoredCell:
    if not isinstance(cell, Mapping):
        raise InputError("not a cell", place=place, expected="a JSON object", found=cell)
    case, run, passed = cell.get("case_id"), cell.get("run"), cell.get("passed")
    for field, value, kind in (("case_id", case, str), ("run", run, int), ("passed", passed, bool)):
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            where = Place(place.file, None, f"{place.field}.{field}")
            raise InputError("an odd value", place=where, expected=kind.__name__, found=value)
    failures = cell.get("failures")
    codes = tuple(str(code) for code in failures) if isinstance(failures, list) else ()
    outcome = str(cell.get("outcome", ""))
    usage = cell.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return ScoredCell(
        case=str(case),
        run=int(str(run)),
        value=float(passed is True),
        missing=outcome == Outcome.MISSING.value or codes == ("missing",),
        unresolved=outcome in (Outcome.INFRA_ERROR.value, Outcome.GRADER_ERROR.value),
        slice=_text(cell.get("slice")),
        group=_group(cell),
        tokens=_amount(usage.get("tokens")),
        cost_usd=_amount(usage.get("usd")),
        codes=codes,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _group(cell: Mapping[str, Any]) -> str | None:
    """A group that is only the case's own id says nothing."""
    group = _text(cell.get("group"))
    return None if group == cell.get("case_id") else group


def _amount(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def load_plan(path: str | Path, columns: Columns) -> PlanRules:
    """Planned cells from a run's ``plan.json``, or a table with a case column (and run, slice, group)."""
    path = Path(path)
    if path.suffix.lower() == ".json":
        raw = _read(path)
        document = parse_json(raw, file=str(path))
        return _plan_document(document, str(path), digest_bytes(raw))
    table = read_table(path)
    places = Columns(case=columns.case, run=columns.run, slice=columns.slice, group=columns.group)
    known = Columns(**{role: name for role, name in msgspec.structs.asdict(places).items() if name in table.columns})
    found = guess_columns(table.columns, str(path), known, needs_outcome=False)
    bare = Columns(case=found.case, run=found.run, slice=found.slice, group=found.group)
    cells, _ = cells_of_rows(table.rows, bare, str(path))
    planned = tuple(_planned(cell) for cell in cells)
    return PlanRules(cells=planned, digest=digest_bytes(_read(path)), name=str(path))


def _planned(cell: ScoredCell) -> PlannedCell:
    if not isinstance(cell.run, int):
        raise InputError("a run that is no number", place=Place(field=f"{cell.case}/{cell.run}"), expected="an integer")
    return PlannedCell(case=cell.case, run=cell.run, slice=cell.slice, group=cell.group)


def _plan_document(document: Any, name: str, digest: str) -> PlanRules:
    cases, runs = (document.get("cases"), document.get("runs")) if isinstance(document, dict) else (None, None)
    if not isinstance(cases, list) or not isinstance(runs, int) or isinstance(runs, bool) or not 1 <= runs <= 1_000_000:
        raise InputError("no plan", place=Place(name), expected='an object with "cases" and "runs"', found=document)
    cells: list[PlannedCell] = []
    for index, case in enumerate(cases):
        if not isinstance(case, dict) or not isinstance(case.get("id"), str):
            raise InputError("not a case", place=Place(name, field=f"cases[{index}]"), expected="an id", found=case)
        group = _text(case.get("group"))
        group = None if group == case["id"] else group
        cells += [
            PlannedCell(case=case["id"], run=run, slice=_text(case.get("slice")), group=group)
            for run in range(1, runs + 1)
        ]
    return PlanRules(cells=tuple(cells), digest=digest, name=name, margin=_margin(document))


def _margin(document: Mapping[str, Any]) -> float | None:
    gate = document.get("gate")
    compare = gate.get("compare") if isinstance(gate, Mapping) else None
    margin = compare.get("margin") if isinstance(compare, Mapping) else None
    return float(margin) if isinstance(margin, (int, float)) and not isinstance(margin, bool) else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"can't read the file: {error.strerror}", place=Place(str(path)), expected="a readable file"
        ) from error


def _report_of(source: Any) -> Mapping[str, Any] | None:
    """A scored report: as plain values, as an object that has one, or as one that turns itself into plain
    values.
    """
    make = getattr(source, "to_dict", None)
    made = make() if callable(make) and not hasattr(source, "columns") else None
    for value in (source, getattr(source, "report", None), made):
        if isinstance(value, Mapping) and isinstance(value.get("cells"), list):
            return value
    return None


def _rows_of(source: Any) -> list[Mapping[str, Any]]:
    """Rows of a data frame of any make, or of an iterable of mappings; values become plain Python ones."""
    for method, arguments in (("to_dicts", {}), ("to_pylist", {}), ("to_dict", {"orient": "records"})):
        make = getattr(source, method, None)
        if callable(make) and not isinstance(source, Mapping):
            return [{str(k): _plain(v) for k, v in row.items()} for row in make(**arguments)]
    if isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)):
        rows = list(source)
        if all(isinstance(row, Mapping) for row in rows):
            return [{str(k): _plain(v) for k, v in row.items()} for row in rows]
    raise UsageError(
        "nothing that can be compared",
        expected="a path, a data frame, a list of mappings, or a run",
        found=type(source).__name__,
    )


def _plain(value: Any) -> Any:
    """A scalar of numpy or pandas as Python's own; NaN is how data frames write null."""
    item = getattr(value, "item", None)
    if callable(item):
        value = item()
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - NaN alone differs
