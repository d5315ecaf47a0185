"""The database that a tool sees: a few verbs, and an authorizer that holds it to what it declared.

Denied by default: every action that isn't a read or write of a declared table, so PRAGMA, ATTACH, DDL,
transaction statements, ``sqlite_master`` and table-valued functions never run. A denial is latched: a tool that
swallows it fails all the same. The statement cache can't carry a permission from one tool to another, since each
tool's SQL is prefixed with its name. The authorizer catches mistakes, not malice; a world's code runs in a process
of its own for that.
"""

from __future__ import annotations

import contextlib
import datetime
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import Conflict, NotFound
from proctor.worlds.api import Operation

__all__ = ["Database", "Shape", "UndeclaredAccess", "columns_of", "table_names"]

_OK, _DENY = sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY
_WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_READ, _SELECT = sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT
_FUNCTION, _RECURSIVE = sqlite3.SQLITE_FUNCTION, 33
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
_DATE_FUNCTIONS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_scratch = sqlite3.connect(":memory:", check_same_thread=False)
"""Evaluates SQLite's own date functions once the word "now" is out of them."""
_INTEGER, _REAL, _TEXT = ("INT",), ("REAL", "FLOA", "DOUB"), ("CHAR", "CLOB", "TEXT")


class UndeclaredAccess(Exception):
    """A tool touched what it did not declare: the suite's mistake, never the agent's."""


@dataclass(frozen=True)
class Shape:
    """What a schema looks like, read once: table → column → (declared type, whether it may not be null), the columns
    on either side of a foreign key, and every name that can be read from (tables, views, table-valued functions)."""

    columns: Mapping[str, Mapping[str, tuple[str, bool]]]
    keys: frozenset[tuple[str, str]]
    names: frozenset[str]

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Shape:
        """The shape of a database's schema."""
        columns = {name: columns_of(connection, name) for name in table_names(connection)}
        stored = connection.execute("SELECT name FROM sqlite_master UNION SELECT name FROM pragma_module_list")
        return cls(columns, _key_columns(connection, columns), frozenset(name for (name,) in stored))


class Database:
    """One connection as tools see it. Not for sharing between threads."""

    def __init__(self, connection: sqlite3.Connection, *, shape: Shape, clock: str, seed: str, step_limit: int) -> None:
        self._connection = connection
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - a world's dice are seeded on purpose
        self._scope: Operation | None = None
        self._own = False
        self._denied: str | None = None
        self._columns, self._keys, self._names = shape.columns, shape.keys, shape.names
        self.cycle = 1
        self._steps_left = self._step_limit = step_limit
        _override_functions(connection, clock, self._random)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.set_authorizer(self._authorize)
        connection.set_progress_handler(self._progress, 10_000)

    # What tools use

    def one(self, sql: str, *params: Any) -> dict[str, Any]:
        """The first row. Raises ``NotFound`` if there is none."""
        row = self.first(sql, *params)
        if row is None:
            raise NotFound("no such row")
        return row

    def first(self, sql: str, *params: Any) -> dict[str, Any] | None:
        """The first row, or None."""
        cursor = self._execute(sql, params)
        row = cursor.fetchone()
        return None if row is None else dict(zip(_names(cursor), row, strict=True))

    def all(self, sql: str, *params: Any) -> list[dict[str, Any]]:
        """All rows."""
        cursor = self._execute(sql, params)
        names = _names(cursor)
        return [dict(zip(names, row)) for row in cursor.fetchall()]  # noqa: B905 - a row has its cursor's columns

    def run(self, sql: str, *params: Any) -> int:
        """Execute a statement; the number of rows that it changed."""
        return self._execute(sql, params).rowcount

    def insert(self, table: str, **columns: Any) -> dict[str, Any]:
        """Insert one row and give it back. Types are those declared; a key can't be null.

        Raises ``Conflict`` where the row breaks the table's rules.
        """
        self.check_row(table, columns)
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" for _ in columns)
        self._execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(columns.values()))  # noqa: S608
        return dict(columns)

    def now(self) -> str:
        """The world's instant, UTC."""
        return self._clock

    def random(self) -> float:
        """A number in [0, 1) from the world's own seed."""
        return self._random.random()

    def check_row(self, table: str, row: Mapping[str, Any]) -> None:
        """Raise ``Conflict`` if a row has an unknown column, a value of another type, or a null key."""
        columns = self._columns.get(table)
        if columns is None:
            raise Conflict(f"no table {table}; there are {', '.join(sorted(self._columns))}")
        for name, value in row.items():
            if name not in columns:
                raise Conflict(f"{table} has no column {name}; it has {', '.join(columns)}")
            declared, is_key = columns[name]
            problem = _type_problem(declared, value, is_key=is_key)
            if problem:
                raise Conflict(f"{table}.{name}: {problem}")

    # What the session uses

    def run_operation(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Run a tool or event in one transaction: committed if it returns, rolled back if it raises."""
        self._denied = None
        self._steps_left = self._step_limit
        self._own_sql("BEGIN")
        try:
            result = self._within(operation, lambda: operation.function(self, **arguments))
            self._raise_if_denied()
        except BaseException as error:
            if self._connection.in_transaction:
                self._own_sql("ROLLBACK")
            if self._denied and not isinstance(error, UndeclaredAccess):
                raise UndeclaredAccess(self._denied) from error
            raise
        if not self._connection.in_transaction:
            raise UndeclaredAccess(f"{operation.name} ended its own transaction")
        self._own_sql("COMMIT")
        return result

    def nested(self, operation: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call from inside another tool: the callee's own declarations hold, inside a savepoint if it writes."""
        if not operation.writes:
            return self._within(operation, lambda: operation.function(self, *args, **kwargs))
        self._own_sql("SAVEPOINT nested")
        try:
            result = self._within(operation, lambda: operation.function(self, *args, **kwargs))
        except BaseException:
            if self._connection.in_transaction:
                self._own_sql("ROLLBACK TO nested")
                self._own_sql("RELEASE nested")
            raise
        self._own_sql("RELEASE nested")
        return result

    @contextlib.contextmanager
    def unguarded(self) -> Iterator[None]:
        """For the session's own reading between calls."""
        self._own = True
        try:
            yield
        finally:
            self._own = False

    def _within(self, operation: Operation, body: Callable[[], Any]) -> Any:
        outer, self._scope = self._scope, operation
        try:
            return body()
        finally:
            self._scope = outer

    def _own_sql(self, sql: str) -> None:
        self._own = True
        try:
            self._connection.execute(sql)
        finally:
            self._own = False

    def _execute(self, sql: str, params: tuple[Any, ...]) -> sqlite3.Cursor:
        scope = self._scope
        if scope is None:
            raise UndeclaredAccess("the database was used outside a tool")
        try:
            return self._connection.execute(f"/*{scope.name}*/ {sql}", params)
        except sqlite3.IntegrityError as error:
            raise Conflict(str(error)) from error
        except sqlite3.DatabaseError:
            self._raise_if_denied()
            raise

    def _raise_if_denied(self) -> None:
        if self._denied:
            raise UndeclaredAccess(self._denied)

    def _progress(self) -> int:
        self._steps_left -= 1
        return 1 if self._steps_left < 0 else 0

    def _authorize(self, action: int, one: str | None, two: str | None, _db: str | None, _by: str | None) -> int:
        if self._own:
            return _OK
        scope = self._scope
        if scope is None:
            return self._deny("an action outside a tool")
        if action in (_SELECT, _RECURSIVE):
            return _OK
        if action == _FUNCTION:
            return self._deny(f"{scope.name} calls {two}()") if two in _FORBIDDEN_FUNCTIONS else _OK
        if action == _READ:
            if one in scope.reads or (one, two) in self._keys or self._is_subquery(one):
                return _OK
            return self._deny(f"{scope.name} reads {one}, which it doesn't declare")
        if action in _WRITES:
            return _OK if one in scope.writes else self._deny(f"{scope.name} writes {one}, which it doesn't declare")
        return self._deny(f"{scope.name} runs a statement that tools can't run (PRAGMA, DDL, transaction or ATTACH)")

    def _is_subquery(self, name: str | None) -> bool:
        """A name that a query gives itself (WITH): what stands behind it is checked on its own."""
        return name is not None and name not in self._names and not name.startswith(("sqlite_", "pragma_"))

    def _deny(self, what: str) -> int:
        self._denied = self._denied or what
        return _DENY


def table_names(connection: sqlite3.Connection) -> list[str]:
    """The tables of a database, sorted, SQLite's own left out."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return [name for (name,) in rows]


def columns_of(connection: sqlite3.Connection, table: str) -> dict[str, tuple[str, bool]]:
    """Column → (declared type in upper case, whether it may not be null)."""
    rows = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    return {name: (kind.upper(), bool(not_null or key)) for _, name, kind, not_null, _, key in rows}


def _key_columns(
    connection: sqlite3.Connection, columns: Mapping[str, Mapping[str, tuple[str, bool]]]
) -> frozenset[tuple[str, str]]:
    """Columns on either side of a foreign key: SQLite reads them to check, whatever a tool declares."""
    keys: set[tuple[str, str]] = set()
    for table in columns:
        for row in connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall():
            parent, own, foreign = row[2], row[3], row[4]
            keys.add((table, own))
            if foreign is None:
                info = connection.execute(f'PRAGMA table_info("{parent}")').fetchall()
                keys.update((parent, name) for _, name, _, _, _, key in info if key)
            else:
                keys.add((parent, foreign))
            keys.add((parent, "ROWID"))
    return frozenset(keys)


def _type_problem(declared: str, value: Any, *, is_key: bool) -> str | None:
    if value is None:
        return "can't be null" if is_key else None
    if isinstance(value, bool):
        return None if "BOOL" in declared or not declared else f"expected {declared}, found a boolean"
    if not isinstance(value, (int, float, str)):
        return f"expected a plain value, found {type(value).__name__}"
    if any(word in declared for word in _INTEGER):
        return None if isinstance(value, int) else f"expected an integer, found {value!r:.60}"
    if any(word in declared for word in _TEXT):
        return None if isinstance(value, str) else f"expected text, found {value!r:.60}"
    if any(word in declared for word in _REAL):
        return None if not isinstance(value, str) else f"expected a number, found {value!r:.60}"
    return None


def _names(cursor: sqlite3.Cursor) -> list[str]:
    names = [column[0] for column in cursor.description or ()]
    if len(set(names)) != len(names):
        raise UndeclaredAccess(f"two columns of a result have one name: {', '.join(names)}")
    return names


def _override_functions(connection: sqlite3.Connection, clock: str, dice: random.Random) -> None:
    """SQL's clock and dice become the world's, so that a run can be repeated."""
    instant = datetime.datetime.fromisoformat(clock.replace("Z", "+00:00")).strftime("%Y-%m-%d %H:%M:%S")

    def dated(name: str) -> Callable[..., Any]:
        fixed = 1 if name == "strftime" else 0  # strftime's first argument is the format

        def call(*args: Any) -> Any:
            given = list(args)
            if len(given) == fixed:
                given.append("now")
            given = [instant if isinstance(a, str) and a.strip().lower() == "now" else a for a in given]
            marks = ",".join("?" for _ in given)
            return _scratch.execute(f"SELECT {name}({marks})", given).fetchone()[0]

        return call

    for name in _DATE_FUNCTIONS:
        connection.create_function(name, -1, dated(name))
    connection.create_function("current_timestamp", 0, lambda: instant)
    connection.create_function("current_date", 0, lambda: instant[:10])
    connection.create_function("current_time", 0, lambda: instant[11:])
    connection.create_function("random", 0, lambda: dice.getrandbits(63))
    connection.create_function("randomblob", 1, dice.randbytes)
