"""A world that runs in its own process, seen from the supervisor; implements ``WorldPort``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from proctor.sandbox.child import Child
from proctor.worlds.port import Answer, ResetProof
from proctor.worlds.signature import ToolSpec

__all__ = ["RemoteWorld"]


class RemoteWorld:
    """The supervisor's end of a world process."""

    def __init__(self, folder: Path, file: str, *, timeout_seconds: float = 60.0) -> None:
        self._arguments = [str(folder), file]
        self._timeout = timeout_seconds
        self._setup: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
        self._child = self._start()

    def _start(self) -> Child:
        return Child("proctor.worlds.host", self._arguments, what="the world's process", timeout_seconds=self._timeout)

    def restart(self) -> None:
        """A new process in place of one that failed."""
        self._child.close()
        self._setup = None
        self._child = self._start()

    @cached_property
    def tools(self) -> Sequence[ToolSpec]:
        """What agents may be offered. Raises ``SuiteError`` where the world can't be loaded."""
        return self._child.ask("tools", reply=list[ToolSpec])

    @property
    def pid(self) -> int:
        """The world's process."""
        return self._child.pid

    def reset(self, setup: Mapping[str, Sequence[Mapping[str, Any]]], seed: str) -> ResetProof:
        """Start over from the case's rows. They travel once for a ``setup`` object."""
        again = setup is self._setup
        self._setup = None
        proof = self._child.ask("reset", None if again else setup, seed, reply=ResetProof)
        self._setup = setup
        return proof

    def begin_cycle(self, cycle: int) -> None:
        """Tell the world which cycle it is in."""
        self._child.ask("begin_cycle", cycle, reply=type(None))

    def call(self, tool: str, arguments: bytes) -> Answer:
        """Carry out a call."""
        return self._child.ask("call", tool, arguments, reply=Answer)

    def event(self, name: str, arguments: bytes) -> Answer:
        """Make a scheduled change."""
        return self._child.ask("event", name, arguments, reply=Answer)

    def logical_digest(self) -> str:
        """The digest of the present rows."""
        return self._child.ask("logical_digest", reply=str)

    def dump(self) -> bytes:
        """The present state as a serialised database."""
        return self._child.ask("dump", reply=bytes)

    def close(self) -> None:
        """End the world's process."""
        self._child.close()
