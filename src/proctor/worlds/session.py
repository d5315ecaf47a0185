"""One world in use: reset to a case, called tool by tool, read at the end.

A snapshot is the serialised database; a reset deserialises it into a new connection and hashes what then stands
there. Results must be exactly what JSON can say: what the agent is shown decodes to what the tool returned.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import Conflict, InfrastructureError, SuiteError, ToolError
from proctor.worlds.api import Operation, World
from proctor.worlds.database import Database, Shape, UndeclaredAccess, table_names
from proctor.worlds.port import Answer, ResetProof
from proctor.worlds.signature import BadArguments, ToolSpec
from proctor.worlds.state import logical_digest, open_bytes

__all__ = ["Session"]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_RESULT_LIMIT = 16 * 1024 * 1024


class Session:
    """A live world in this process; implements ``WorldPort``.

    ``step_limit`` bounds one call's SQL, in units of 10,000 virtual machine instructions.
    """

    def __init__(self, world: World, *, step_limit: int = 50_000) -> None:
        self._world = world
        self._step_limit = step_limit
        self._empty = _schema_bytes(world)
        self._shape = Shape.of(open_bytes(self._empty))
        self._setup: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
        self._snapshot = b""
        self._snapshot_sha256 = ""
        self._connection: sqlite3.Connection | None = None
        self._database: Database | None = None

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools' specifications in the order of declaration."""
        return [operation.spec for operation in self._world.tools.values()]

    def reset(self, setup: Mapping[str, Sequence[Mapping[str, Any]]], seed: str) -> ResetProof:
        """Start over: schema and the case's rows. Raises ``SuiteError`` where a row contradicts the schema.

        The snapshot is built once for a ``setup`` object; given the same object again, it is only deserialised.
        """
        if setup is not self._setup:
            self._snapshot = self._build(setup)
            self._snapshot_sha256 = hashlib.sha256(self._snapshot).hexdigest()
            self._setup = setup
        if self._connection is not None:
            self._connection.close()
        connection = open_bytes(self._snapshot)
        self._connection = connection
        self._database = self._guarded(connection, seed)
        return ResetProof(
            snapshot_sha256=self._snapshot_sha256,
            bytes_sha256=hashlib.sha256(connection.serialize()).hexdigest(),
        )

    def begin_cycle(self, cycle: int) -> None:
        """Set the cycle that ``db.cycle`` shows."""
        self._db.cycle = cycle

    def call(self, tool: str, arguments: bytes) -> Answer:
        """Call a tool with JSON text. Raises ``InfrastructureError`` where the tool itself breaks."""
        return self._run(self._world.tools[tool], arguments)

    def event(self, name: str, arguments: bytes) -> Answer:
        """Make a scheduled change. An event that refuses is the suite's mistake."""
        operation = self._world.events.get(name)
        if operation is None:
            known = ", ".join(sorted(self._world.events)) or "none"
            raise SuiteError(f"the world has no event {name}", expected=known, found=name, code="unknown_event")
        answer = self._run(operation, arguments)
        if answer.error:
            raise InfrastructureError(f"event {name} failed: {answer.message}", code="world_event_failed")
        return answer

    def logical_digest(self) -> str:
        """Digest of the rows, whatever their order."""
        with self._db.unguarded():
            return logical_digest(self._open)

    def dump(self) -> bytes:
        """The database as bytes."""
        return self._open.serialize()

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise InfrastructureError("the world was used before its first reset", code="world_not_reset")
        return self._connection

    @property
    def _db(self) -> Database:
        if self._database is None:
            raise InfrastructureError("the world was used before its first reset", code="world_not_reset")
        return self._database

    def _run(self, operation: Operation, arguments: bytes) -> Answer:
        try:
            values = operation.parameters.read(arguments)
        except BadArguments as error:
            return Answer(error="bad_arguments", message=str(error))
        try:
            result = self._db.run_operation(operation, values)
        except ToolError as error:
            return Answer(error=error.code, message=error.message or error.code.replace("_", " "))
        except UndeclaredAccess as error:
            raise InfrastructureError(
                f"the world broke its own declaration: {error}", code="undeclared_access"
            ) from error
        except Exception as error:
            raise InfrastructureError(
                f"{operation.name} broke: {type(error).__name__}: {error}", code="world_broke"
            ) from error
        return Answer(result=_exact_json(operation.name, result))

    def _guarded(self, connection: sqlite3.Connection, seed: str) -> Database:
        return Database(connection, shape=self._shape, clock=self._world.clock, seed=seed, step_limit=self._step_limit)

    def _build(self, setup: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
        connection = open_bytes(self._empty)
        checker = self._guarded(connection, "setup")
        connection.set_authorizer(None)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN")
        for table in setup:
            for number, row in enumerate(setup[table]):
                try:
                    checker.check_row(table, row)
                    names = ", ".join(f'"{name}"' for name in row)
                    marks = ", ".join("?" for _ in row)
                    connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(row.values()))  # noqa: S608
                except (Conflict, sqlite3.Error) as error:
                    raise SuiteError(
                        f"setup.{table}[{number}] contradicts the world's schema: {error}",
                        expected=f"a row of {table}",
                        found=row,
                        fix="mend the case's setup, or the schema in world.py",
                        code="setup_contradicts_schema",
                    ) from error
        connection.execute("COMMIT")
        orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
        if orphan:
            raise SuiteError(
                f"setup.{orphan[0]} refers to a row of {orphan[2]} that isn't there",
                expected=f"setup rows whose references exist in {orphan[2]}",
                code="setup_contradicts_schema",
            )
        data = connection.serialize()
        connection.close()
        return data


def _schema_bytes(world: World) -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.executescript(world.schema)
        data = connection.serialize() if table_names(connection) else b""
    except sqlite3.Error as error:
        raise SuiteError(
            f"the world's schema is not valid SQL: {error}", expected="SQLite statements", code="world_schema"
        ) from error
    finally:
        connection.close()
    if not data:
        raise SuiteError("the world's schema has no table", expected="at least one CREATE TABLE", code="world_schema")
    return data


def _exact_json(name: str, result: Any) -> bytes:
    """JSON text that decodes to exactly the result, or the tool is broken.

    What JSON would quietly turn into something else (sets, bytes, dates, infinity, keys that are numbers) differs
    after the round trip; what encodes to a number or truth value decodes to the same type.
    """
    try:
        text = _encode(result)
        same = _decode(text) == result
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InfrastructureError(f"{name} returned what JSON can't say: {error}", code="world_broke") from error
    if not same:
        raise InfrastructureError(
            f"{name} returned what JSON can't say exactly",
            expected="dict, list, str, int, finite float, bool or None",
            found=result,
            code="world_broke",
        )
    if len(text) > _RESULT_LIMIT:
        raise InfrastructureError(f"{name} returned {len(text):,} bytes; at most {_RESULT_LIMIT:,}", code="world_broke")
    return text
