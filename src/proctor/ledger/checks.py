"""What checking a log or a run finds, as values: findings with their places, and what is believed. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum

import msgspec

from proctor.errors import Place, ProctorError, shorten

__all__ = ["EntryRule", "Finding", "LogCheck", "Trust"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: ``file`` is relative to the folder that was checked, ``field`` the place inside it."""

    code: str
    file: str
    problem: str
    field: str | None = None
    expected: str | None = None
    found: str | None = None

    @property
    def message(self) -> str:
        """On one line."""
        text = f"{Place(self.file, field=self.field)}: {self.problem}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.found is not None:
            text += f"; found {self.found}"
        return text

    @classmethod
    def of(cls, error: ProctorError, file: str, *, field: str | None = None) -> Finding:
        """The same facts as an exception has, at a place relative to the folder."""
        return cls(
            code=error.code or "broken",
            file=file,
            field=field or (error.place.field if error.place else None),
            problem=error.problem,
            expected=error.expected,
            found=error.found,
        )

    @classmethod
    def at(
        cls,
        file: str,
        code: str,
        problem: str,
        *,
        field: str | None = None,
        expected: object = None,
        found: object = None,
    ) -> Finding:
        """With values of unknown origin made printable."""
        return cls(
            code=code,
            file=file,
            field=field,
            problem=problem,
            expected=None if expected is None else shorten(str(expected), 120),
            found=None if found is None else shorten(str(found), 120),
        )


class Trust(StrEnum):
    """By whom a log's head is signed."""

    UNSIGNED = "unsigned"
    SELF_SIGNED = "self-signed"
    WITNESSED = "witnessed"


class EntryRule(Enum):
    """What counts as an entry: one of ours, any canonical JSON, or any bytes."""

    TYPED = "typed"
    CANONICAL = "canonical"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCheck:
    """What was found in one log.

    ``size`` and ``root`` are those of the whole entries. ``is_open``: it was never closed. ``torn_bytes`` stand
    behind the last whole entry of an open log. ``signed_size`` is what the last checkpoint covers.
    """

    findings: tuple[Finding, ...]
    origin: str | None
    size: int
    root: bytes
    signed_size: int
    trust: Trust
    witnesses: tuple[str, ...] = ()
    is_open: bool = False
    torn_bytes: int = 0
