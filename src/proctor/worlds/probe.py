"""What a suite's author may have got wrong about a world, asked of the world itself: its names, which rows contradict
its schema, which arguments its events refuse, and which SQL its tools may not run.

``WorldProbe`` is the asking side; ``main`` answers in a process of its own, since it loads the suite's code. SQL is
only prepared (``EXPLAIN``), under the same authorizer that holds a tool to what it declares; nothing is executed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import Conflict
from proctor.sandbox.child import Child, serve
from proctor.worlds.api import Operation, World
from proctor.worlds.database import Database, Shape, UndeclaredAccess, columns_of, table_names
from proctor.worlds.host import find_world
from proctor.worlds.session import Session
from proctor.worlds.signature import BadArguments
from proctor.worlds.state import open_bytes, read_state

__all__ = ["OperationFacts", "RowProblem", "WorldFacts", "WorldProbe", "main"]

_BINDINGS = re.compile(r"uses (\d+)")


class OperationFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A tool or an event: where it stands in the world's file and what it declares."""

    name: str
    line: int
    described: bool
    parameters: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class WorldFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A world's names. ``columns``: table → columns; ``filled``: tables that hold rows before any case adds some."""

    tools: tuple[OperationFacts, ...]
    events: tuple[OperationFacts, ...]
    columns: dict[str, tuple[str, ...]]
    filled: tuple[str, ...]


class RowProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A row that contradicts the schema; ``number`` counts from 0, ``column`` is None for the row as a whole."""

    table: str
    number: int
    column: str | None
    problem: str


class WorldProbe:
    """The asking side. Close it. Raises ``SuiteError`` where the world doesn't load."""

    def __init__(self, folder: Path, file: str, *, timeout_seconds: float = 30.0) -> None:
        arguments = [str(folder), file]
        self._child = Child("proctor.worlds.probe", arguments, what="the world", timeout_seconds=timeout_seconds)
        try:
            self.facts = self._child.ask("facts", reply=WorldFacts)
        except BaseException:
            self._child.close()
            raise

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def row_problems(self, rows: Mapping[str, Sequence[Any]], *, whole: bool) -> tuple[RowProblem, ...]:
        """Every contradiction in rows of known tables and columns. ``whole`` rows are also put in, so that keys,
        constraints and references are held; the others name only some of their columns."""
        return self._child.ask("rows", rows, whole, reply=tuple[RowProblem, ...])

    def event_problem(self, event: str, arguments: bytes) -> str | None:
        """What an event would say of these arguments (JSON text)."""
        return self._child.ask("event", event, arguments, reply=str | None)  # type: ignore[arg-type]

    def sql_problem(self, operation: str, sql: str, n_parameters: int | None) -> str | None:
        """Why this operation could not run a statement with so many parameters (None: unknown)."""
        return self._child.ask("sql", operation, sql, n_parameters, reply=str | None)  # type: ignore[arg-type]


class _Answering:
    """The answering side."""

    def __init__(self, world: World) -> None:
        self._world = world
        session = Session(world)
        session.reset({}, "probe")
        self._empty = session.dump()
        self._shape = Shape.of(open_bytes(self._empty))

    def facts(self) -> WorldFacts:
        connection = open_bytes(self._empty)
        tables = read_state(connection).tables
        return WorldFacts(
            tools=tuple(_facts(op) for op in self._world.tools.values()),
            events=tuple(_facts(op) for op in self._world.events.values()),
            columns={name: tuple(columns_of(connection, name)) for name in table_names(connection)},
            filled=tuple(sorted(name for name, rows in tables.items() if rows)),
        )

    def rows(self, rows: dict[str, list[dict[str, Any]]], whole: bool) -> list[RowProblem]:
        connection = open_bytes(self._empty)
        checker = self._database(connection)
        connection.set_authorizer(None)
        connection.execute("PRAGMA foreign_keys = OFF")
        problems = []
        for table, listed in rows.items():
            for number, row in enumerate(listed):
                wrong = [p for name, value in row.items() if (p := _value_problem(checker, table, name, value))]
                problems += [RowProblem(table=table, number=number, column=c, problem=text) for c, text in wrong]
                if whole and not wrong and (text := self._insert_problem(connection, table, row)):
                    problems.append(RowProblem(table=table, number=number, column=None, problem=text))
        if whole:
            problems += _orphans(connection, rows)
        return problems

    def _insert_problem(self, connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> str | None:
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        values = f"({names}) VALUES ({marks})" if row else "DEFAULT VALUES"
        try:
            done = connection.execute(f'INSERT INTO "{table}" {values} RETURNING *', tuple(row.values()))
            (stored,) = done.fetchall()
        except (sqlite3.Error, OverflowError) as error:
            return str(error)
        columns = self._shape.columns[table].items()
        empty = [name for (name, (_, is_key)), value in zip(columns, stored, strict=True) if is_key and value is None]
        return f"{', '.join(empty)} can't be left out" if empty else None

    def event(self, event: str, arguments: bytes) -> str | None:
        try:
            self._world.events[event].parameters.read(arguments)
        except BadArguments as error:
            return str(error)
        return None

    def sql(self, operation: str, sql: str, n_parameters: int | None) -> str | None:
        declared = self._world.tools.get(operation) or self._world.events[operation]
        guess = n_parameters if n_parameters is not None else 0
        try:
            self._explain(declared, sql, guess)
        except sqlite3.ProgrammingError as error:
            needed = _BINDINGS.search(str(error))
            if needed is None or n_parameters is not None:
                return str(error)
            return self.sql(operation, sql, int(needed[1])) if int(needed[1]) != guess else str(error)
        except (UndeclaredAccess, sqlite3.Error) as error:
            return str(error)
        return None

    def _explain(self, declared: Operation, sql: str, n_parameters: int) -> None:
        def explain(db: Database) -> None:
            db.first(f"EXPLAIN {sql}", *[None] * n_parameters)

        operation = Operation(explain, declared.reads, declared.writes)
        operation.name = declared.name
        self._database(open_bytes(self._empty)).run_operation(operation, {})

    def _database(self, connection: sqlite3.Connection) -> Database:
        return Database(connection, shape=self._shape, clock=self._world.clock, seed="probe", step_limit=1000)


def _facts(operation: Operation) -> OperationFacts:
    return OperationFacts(
        name=operation.name,
        line=operation.function.__code__.co_firstlineno,
        described=bool(operation.spec.description),
        parameters=operation.parameters.names,
        reads=tuple(sorted(operation.reads)),
        writes=tuple(sorted(operation.writes)),
    )


def _value_problem(checker: Database, table: str, name: str, value: Any) -> tuple[str, str] | None:
    try:
        checker.check_row(table, {name: value})
    except Conflict as error:
        return name, str(error).removeprefix(f"{table}.{name}: ")
    return None


def _orphans(connection: sqlite3.Connection, rows: Mapping[str, Sequence[Any]]) -> list[RowProblem]:
    """Rows whose reference leads nowhere. SQLite names them by rowid; where that can't be told it is row 0."""
    problems = []
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall():
        number = max(0, min((rowid or 1) - 1, len(rows.get(table, ())) - 1))
        problems.append(
            RowProblem(table=table, number=number, column=None, problem=f"refers to a row of {parent} that isn't there")
        )
    return problems


def main(arguments: list[str]) -> None:
    """Answer for the world of ``FOLDER FILE`` until the parent goes away."""
    folder, file = arguments

    def load() -> Mapping[str, Callable[..., Any]]:
        answering = _Answering(find_world(Path(folder), file))
        return {name: getattr(answering, name) for name in ("facts", "rows", "event", "sql")}

    serve(load)
