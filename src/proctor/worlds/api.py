"""How an author writes a world: a schema, tools and scheduled events, in one short file.

    desk = world("CREATE TABLE orders(id TEXT PRIMARY KEY, cents INT);", clock="2026-11-30T09:00:00Z")

    @desk.tool(reads="orders")
    def get_order(db, id: str) -> dict: ...

What a tool declares to read and write is enforced by the database (``worlds.database``). A tool may call another:
the callee works within its own declarations, inside a savepoint. Left out: running a world (``worlds.session``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from proctor.errors import SuiteError
from proctor.worlds.signature import Parameters, ToolSpec

__all__ = ["Operation", "World", "world"]

F = TypeVar("F", bound=Callable[..., Any])

_CLOCK = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class Operation:
    """A tool or an event of a world: a function, its parameters, and the tables that it may touch."""

    def __init__(self, function: Callable[..., Any], reads: frozenset[str], writes: frozenset[str]) -> None:
        self.function = function
        self.name = function.__name__
        self.reads = reads | writes
        self.writes = writes
        self.parameters = Parameters.of(function)
        self.spec = ToolSpec(
            name=self.name,
            description=(function.__doc__ or "").strip(),
            parameters=self.parameters.schema,
        )


class World:
    """A world's description: schema, clock, and its operations by name. State lives in a ``Session``."""

    def __init__(self, schema: str, *, clock: str) -> None:
        self.schema = schema
        self.clock = clock
        self.tools: dict[str, Operation] = {}
        self.events: dict[str, Operation] = {}

    def tool(self, *, reads: str | Iterable[str] = (), writes: str | Iterable[str] = ()) -> Callable[[F], F]:
        """Declare a tool that agents are offered. ``reads`` and ``writes`` name tables (writing implies reading)."""
        return self._register(self.tools, reads, writes)

    def event(self, *, reads: str | Iterable[str] = (), writes: str | Iterable[str] = ()) -> Callable[[F], F]:
        """Declare a change that the harness makes on schedule; agents are never offered it."""
        return self._register(self.events, reads, writes)

    def _register(
        self, registry: dict[str, Operation], reads: str | Iterable[str], writes: str | Iterable[str]
    ) -> Callable[[F], F]:
        def register(function: F) -> F:
            operation = Operation(function, _tables(reads), _tables(writes))
            if operation.name in self.tools or operation.name in self.events:
                raise SuiteError(
                    f"two operations of this world are named {operation.name}",
                    expected="each name once",
                    code="tool_name",
                )
            registry[operation.name] = operation

            @functools.wraps(function)
            def within_scope(db: Any, *args: Any, **kwargs: Any) -> Any:
                return db.nested(operation, args, kwargs)

            return within_scope  # type: ignore[return-value]

        return register


def _tables(names: str | Iterable[str]) -> frozenset[str]:
    return frozenset(names.replace(",", " ").split() if isinstance(names, str) else names)


def world(schema: str, *, clock: str) -> World:
    """A world from SQL (tables, and rows that every case starts with) and the UTC instant at which it stands.

    Raises ``SuiteError`` if the clock isn't written like ``2026-11-30T09:00:00Z``.
    """
    if not _CLOCK.fullmatch(clock):
        raise SuiteError(
            "a world's clock is a UTC instant",
            expected="2026-11-30T09:00:00Z",
            found=clock,
            code="world_clock",
        )
    return World(schema, clock=clock)
