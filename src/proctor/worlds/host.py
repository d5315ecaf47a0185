"""A world in a process of its own: this side serves one ``Session``; the other side is ``worlds.remote``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.errors import Place, SuiteError
from proctor.sandbox.child import serve
from proctor.suite.code import load_file
from proctor.worlds.api import World
from proctor.worlds.port import Answer, ResetProof
from proctor.worlds.session import Session
from proctor.worlds.signature import ToolSpec

__all__ = ["find_world", "main"]


def find_world(folder: Path, file: str) -> World:
    """The one ``World`` that a suite's file defines. Raises ``SuiteError``."""
    module = load_file(folder, file)
    worlds = [value for value in vars(module).values() if isinstance(value, World)]
    if len(worlds) != 1:
        raise SuiteError(
            f"the file defines {len(worlds)} worlds",
            place=Place(str(folder / file)),
            expected="one object made with proctor.world(...)",
            code="world_count",
        )
    return worlds[0]


class _Host:
    """The methods that the parent may ask for."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._session = Session(world)
        self._setup: dict[str, list[dict[str, Any]]] = {}

    def tools(self) -> list[ToolSpec]:
        return list(self._session.tools)

    def reset(self, setup: dict[str, list[dict[str, Any]]] | None, seed: str) -> ResetProof:
        """``setup`` is None for the same case again."""
        if setup is not None:
            self._setup = setup
        return self._session.reset(self._setup, seed)

    def begin_cycle(self, cycle: int) -> None:
        self._session.begin_cycle(cycle)

    def call(self, tool: str, arguments: bytes) -> Answer:
        return self._session.call(tool, arguments)

    def event(self, name: str, arguments: bytes) -> Answer:
        return self._session.event(name, arguments)

    def logical_digest(self) -> str:
        return self._session.logical_digest()

    def dump(self) -> bytes:
        return self._session.dump()


def main(arguments: list[str]) -> None:
    """Serve the world of ``FOLDER FILE`` until the parent goes away."""
    folder, file = arguments

    def load() -> Mapping[str, Callable[..., Any]]:
        host = _Host(find_world(Path(folder), file))
        names = ("tools", "reset", "begin_cycle", "call", "event", "logical_digest", "dump")
        return {name: getattr(host, name) for name in names}

    serve(load)
