"""Does a reset really reset? The same calls are made twice from the same start; what differs has leaked.

Hashes of the tables see neither what a tool keeps in memory nor what it writes elsewhere, so the tools are asked
themselves: observe and mutate, reset, observe and mutate again. Arguments are taken from the case's own rows; a tool
that they never reach stays unproven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import InfrastructureError
from proctor.worlds.port import WorldPort
from proctor.worlds.signature import ToolSpec

__all__ = ["Leak", "find_leaks"]

_encode = msgspec.json.Encoder(order="sorted").encode
_TRIES = 6
Setup = Mapping[str, Sequence[Mapping[str, Any]]]


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was answered otherwise after the reset, or that touched what it doesn't declare (``second`` is then
    empty). ``tool`` is empty where only the tables differ at the end."""

    tool: str
    arguments: str
    first: str
    second: str


def find_leaks(world: WorldPort, setup: Setup, seed: str) -> list[Leak]:
    """All leaks that show; each tool once. The world is left as it stands after the last call."""
    calls = [(tool.name, _encode(args)) for tool in world.tools for args in _arguments(tool, setup)]
    first, second = (_transcript(world, setup, seed, calls) for _ in range(2))
    leaks: dict[str, Leak] = {}
    for (tool, args), before, after in zip([*calls, ("", b"")], first, second, strict=True):
        undeclared = "undeclared_access" in (before.partition(":")[0], after.partition(":")[0])
        if before != after or undeclared:
            again = "" if undeclared else after
            leaks.setdefault(tool, Leak(tool=tool, arguments=args.decode(), first=before, second=again))
    return list(leaks.values())


def _transcript(world: WorldPort, setup: Setup, seed: str, calls: Sequence[tuple[str, bytes]]) -> list[str]:
    """What each call said, then the digest of the tables."""
    world.reset(setup, seed)
    world.begin_cycle(1)
    said = []
    for tool, arguments in calls:
        try:
            said.append(_encode(world.call(tool, arguments)).decode())
        except InfrastructureError as error:
            said.append(f"{error.code}: {error.problem}")
    return [*said, world.logical_digest()]


def _arguments(tool: ToolSpec, setup: Setup) -> Iterator[dict[str, Any]]:
    """Some plausible arguments for a tool, each once."""
    properties = tool.parameters.get("properties", {})
    values = {name: list(_values(name, schema, setup)) for name, schema in properties.items()}
    seen = set()
    for turn in range(_TRIES):
        made = {name: many[turn % len(many)] for name, many in values.items() if many}
        if (key := _encode(made)) not in seen:
            seen.add(key)
            yield made


def _values(name: str, schema: Mapping[str, Any], setup: Setup) -> Iterator[Any]:
    if "enum" in schema:
        yield from schema["enum"]
    elif schema.get("type") == "integer":
        yield from (1, 2)
    elif schema.get("type") == "boolean":
        yield from (True, False)
    elif schema.get("type") == "string":
        stem, _, column = name.rpartition("_")
        found = False
        for table, rows in setup.items():
            wanted = column if stem and table.startswith(stem[:4]) else name
            for row in rows[:_TRIES]:
                if isinstance(row.get(wanted), str):
                    found = True
                    yield row[wanted]
        if not found:
            yield "text"
