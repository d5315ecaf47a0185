"""A world's state as values: rows for graders, a digest that doesn't depend on row order, and differences.

Two databases with the same rows have the same logical digest whatever their bytes, on every machine.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from proctor.worlds.database import table_names

__all__ = ["Change", "Row", "State", "diff_states", "logical_digest", "open_bytes", "read_state", "typed_row"]

Row: TypeAlias = Mapping[str, Any]
_encode = msgspec.json.Encoder(order="deterministic").encode


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A world's tables as rows, in the order of their rowid: ``tables[name]`` is a list of column→value."""

    tables: Mapping[str, Sequence[Row]]

    def rows(self, table: str) -> list[Row]:
        """The rows of a table. Raises ``KeyError`` with the tables there are."""
        if table not in self.tables:
            raise KeyError(f"no table {table!r}; this world has {', '.join(sorted(self.tables))}")
        return list(self.tables[table])


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference between two states: a row that appeared (``before`` null) or vanished (``after`` null), or,
    where the rows have a key in common, one that changed."""

    table: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


def open_bytes(data: bytes) -> sqlite3.Connection:
    """A new in-memory connection holding a serialised database."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if data:
        connection.deserialize(data)
    return connection


def read_state(connection: sqlite3.Connection) -> State:
    """Every table's rows in rowid order, where it has one."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for name in table_names(connection):
        try:
            cursor = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid')  # noqa: S608
        except sqlite3.OperationalError:  # WITHOUT ROWID
            cursor = connection.execute(f'SELECT * FROM "{name}"')  # noqa: S608
        columns = [column[0] for column in cursor.description]
        tables[name] = [dict(zip(columns, row, strict=True)) for row in cursor]
    return State(tables=tables)


def logical_digest(connection: sqlite3.Connection) -> str:
    """SHA-256 over tables by name, each row hashed with its types and the hashes sorted."""
    whole = hashlib.sha256()
    for name in table_names(connection):
        cursor = connection.execute(f'SELECT * FROM "{name}"')  # noqa: S608
        columns = [column[0] for column in cursor.description]
        whole.update(_encode(["table", name, columns]))
        whole.update(b"".join(sorted(hashlib.sha256(_encode(_plain(row))).digest() for row in cursor)))
    return whole.hexdigest()


def _plain(row: Sequence[Any]) -> list[Any]:
    """Values that JSON keeps apart: floats carry a tag, since 2.0 and 2 are different rows."""
    return [
        ["real", repr(v)] if isinstance(v, float) else ["blob", v.hex()] if isinstance(v, bytes) else v for v in row
    ]


def typed_row(row: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    """A row as a hashable value in which 1, 1.0 and "1" differ."""
    return tuple(sorted((name, type(value).__name__, value) for name, value in row.items()))


def diff_states(before: State, after: State) -> list[Change]:
    """What changed, table by table, as a multiset difference (duplicates count).

    Rows that vanished and appeared and agree in their first column are paired as one changed row.
    """
    changes: list[Change] = []
    for table in sorted(set(before.tables) | set(after.tables)):
        old, new = before.tables.get(table, ()), after.tables.get(table, ())
        gone = Counter(map(typed_row, old))
        gone.subtract(Counter(map(typed_row, new)))
        vanished = _take(old, {row: n for row, n in gone.items() if n > 0})
        appeared = _take(new, {row: -n for row, n in gone.items() if n < 0})
        changes.extend(_paired(table, vanished, appeared))
    return changes


def _take(rows: Sequence[Mapping[str, Any]], wanted: dict[Any, int]) -> list[dict[str, Any]]:
    taken = []
    for row in reversed(rows):
        key = typed_row(row)
        if wanted.get(key, 0) > 0:
            wanted[key] -= 1
            taken.append(dict(row))
    return taken[::-1]


def _paired(table: str, vanished: list[dict[str, Any]], appeared: list[dict[str, Any]]) -> list[Change]:
    changes = []
    by_key: dict[Any, list[dict[str, Any]]] = {}
    for row in appeared:
        by_key.setdefault(next(iter(row.values()), None), []).append(row)
    for row in vanished:
        partners = by_key.get(next(iter(row.values()), None))
        changes.append(Change(table=table, before=row, after=partners.pop(0) if partners else None))
    changes.extend(Change(table=table, before=None, after=row) for rows in by_key.values() for row in rows)
    return changes
