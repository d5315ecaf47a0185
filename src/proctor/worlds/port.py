"""What the gateway needs of a world, wherever the world runs: in this process, in its own, or behind a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from proctor.worlds.signature import ToolSpec

__all__ = ["Answer", "ResetProof", "WorldPort"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a world answered: ``result`` is JSON text, or ``error`` is a code (``denied``, ``not_found``,
    ``conflict``, ``bad_arguments``) with a message; the call then had no effect."""

    result: bytes | None = None
    error: str | None = None
    message: str = ""


class ResetProof(msgspec.Struct, frozen=True, kw_only=True):
    """Hash of the snapshot, and of the bytes that stood in the world after the reset. They must be equal."""

    snapshot_sha256: str
    bytes_sha256: str


class WorldPort(Protocol):
    """A world that can be reset, called and read. Faults of the world raise ``InfrastructureError``."""

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """What agents may be offered, in the order of declaration."""
        ...

    def reset(self, setup: Mapping[str, Sequence[Mapping[str, Any]]], seed: str) -> ResetProof:
        """Start over from the case's rows."""
        ...

    def begin_cycle(self, cycle: int) -> None:
        """Tell the world which cycle it is in, from 1."""
        ...

    def call(self, tool: str, arguments: bytes) -> Answer:
        """Carry out a call; arguments are JSON text as received."""
        ...

    def event(self, name: str, arguments: bytes) -> Answer:
        """Make a scheduled change."""
        ...

    def logical_digest(self) -> str:
        """The digest of the present rows."""
        ...

    def dump(self) -> bytes:
        """The present state as a serialised SQLite database."""
        ...
