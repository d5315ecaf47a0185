"""One case as the graders see it, out of a whole final state or out of a case that stands alone.

A final state is a ``State``, a mapping of tables to rows (also under ``tables``), or the case itself: a mapping with
``status``, ``queue``, ``outstanding``, ``links``, ``note``. Only the first two need a layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from proctor.codec.json_strict import parse_json
from proctor.errors import SuiteError
from proctor.grade.keys import Key, KeyLink, required
from proctor.suite.layout import Layout, ListPlace
from proctor.worlds.state import Row, State

__all__ = ["CaseFile", "FinalState", "case_file", "layout_of", "state_of"]

FinalState: TypeAlias = State | Mapping[str, Any]


class CaseFile(msgspec.Struct, frozen=True, kw_only=True):
    """The case's end. ``queue`` is None where it wasn't routed; ``exists`` is False where there is no such case."""

    status: str | None
    queue: str | None
    outstanding: tuple[str, ...] = ()
    links: tuple[KeyLink, ...] = ()
    note: str = ""
    exists: bool = True


_NOWHERE = CaseFile(status=None, queue=None, exists=False)


def layout_of(key: Key, layout: Layout | None = None) -> Layout:
    """The key's own layout, else the suite's, else the usual names (with no table)."""
    return key.layout or layout or Layout(table="cases")


def state_of(state: FinalState) -> State:
    """A whole state from tables. Raises ``SuiteError`` where it is none."""
    if isinstance(state, State):
        return state
    tables = state.get("tables", state)
    if not isinstance(tables, Mapping) or not all(_is_rows(rows) for rows in tables.values()):
        raise SuiteError(
            "this is no state", expected="an object of tables, each a list of rows", found=tables, code="state"
        )
    return State(tables=tables)


def _is_rows(rows: Any) -> bool:
    return isinstance(rows, (list, tuple)) and all(isinstance(row, Mapping) for row in rows)


def case_file(state: FinalState, key: Key, layout: Layout | None = None) -> CaseFile:
    """The case that a key speaks of. Raises ``SuiteError`` where the layout doesn't fit the state."""
    names = layout_of(key, layout)
    if isinstance(state, Mapping) and "tables" not in state and names.status in state:
        return _read(state, names, None, None)
    whole, case_id = state_of(state), required(key.case_id, "case_id")
    rows = [row for row in _table(whole, names.table) if _cell(row, names.id, names.table) == case_id]
    return _read(rows[0], names, whole, case_id) if rows else _NOWHERE


def _read(row: Row, names: Layout, state: State | None, case_id: str | None) -> CaseFile:
    status, queue, note = (row.get(name) for name in (names.status, names.queue, names.note))
    return CaseFile(
        status=None if status is None else str(status),
        queue=str(queue) if queue else None,
        outstanding=tuple(str(item) for item in _list(row, names.outstanding, state, case_id)),
        links=tuple(_link(link) for link in _list(row, names.links, state, case_id)),
        note="" if note is None else str(note),
    )


def _list(row: Row, where: str | ListPlace, state: State | None, case_id: str | None) -> Sequence[Any]:
    if isinstance(where, str) or state is None:
        value = row.get(where if isinstance(where, str) else "links" if where.kind else "outstanding")
        value = parse_json(value.encode()) if isinstance(value, str) and value else value
        if value is not None and value != "" and not isinstance(value, (list, tuple)):
            raise SuiteError("a case's list is none", expected="a JSON list", found=value, code="layout")
        return value or ()
    rows = [r for r in _table(state, where.table) if _cell(r, where.subject, where.table) == case_id]
    if where.kind is None:
        return [_cell(r, where.value, where.table) for r in rows]
    return [{"kind": _cell(r, where.kind, where.table), "target": _cell(r, where.value, where.table)} for r in rows]


def _link(link: Any) -> KeyLink:
    if not isinstance(link, Mapping) or not {"kind", "target"} <= set(link):
        raise SuiteError("this is no link", expected='{"kind": …, "target": …}', found=link, code="layout")
    return KeyLink(kind=str(link["kind"]), target=str(link["target"]))


def _table(state: State, name: str) -> Sequence[Row]:
    if name not in state.tables:
        raise SuiteError(
            f"the layout names the table {name!r}, which the state doesn't have",
            expected=", ".join(sorted(state.tables)),
            found=name,
            fix="change [layout] in suite.toml, or the key's layout",
            code="layout",
        )
    return state.tables[name]


def _cell(row: Row, column: str, table: str) -> Any:
    if column not in row:
        raise SuiteError(
            f"the layout names the column {table}.{column}, which isn't there",
            expected=", ".join(row),
            found=column,
            fix="change [layout] in suite.toml, or the key's layout",
            code="layout",
        )
    return row[column]
