"""The answer to "can this run be believed?": integrity, completeness, trust, what was not looked at. Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import msgspec

from proctor.ledger.checks import Finding, Trust

__all__ = ["Completeness", "Gap", "Integrity", "RegradeAnswer", "Regrader", "RunCheck"]


class Integrity(StrEnum):
    """Whether every byte that was recorded is as it was recorded."""

    INTACT = "intact"
    BROKEN = "broken"


class Completeness(StrEnum):
    """Whether the run ended, and every planned cell is accounted for."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A planned cell without a committed grade, and how far it came."""

    cell: str
    state: str


class RegradeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What grading again from the record gave: a word for the report, and what differs."""

    status: str
    findings: tuple[Finding, ...] = ()


Regrader = Callable[[Path], RegradeAnswer]
"""Grades a run again from its recorded evidence and compares the report; given by the caller, since it runs the
suite's code."""


class RunCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that checking a run gave.

    ``gaps`` are planned cells without a grade, ``notes`` things worth knowing that are no fault. ``size`` and ``root``
    are the run's log's. ``regrade`` is ``done``, ``differs``, ``not asked``, or why it could not be done.
    """

    run: str
    run_id: str | None
    origin: str | None
    size: int
    root: str
    trust: Trust
    witnesses: tuple[str, ...]
    is_closed: bool
    planned: int
    graded: int
    n_events: int
    n_withheld: int
    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]
    regrade: str

    @property
    def integrity(self) -> Integrity:
        """Broken by any finding."""
        return Integrity.BROKEN if self.findings else Integrity.INTACT

    @property
    def completeness(self) -> Completeness:
        """Complete if the run was closed and no planned cell is without a grade."""
        whole = self.is_closed and not self.gaps
        return Completeness.COMPLETE if whole else Completeness.INCOMPLETE

    @property
    def exit_code(self) -> int:
        """0 intact and complete, 1 intact but incomplete, 2 broken."""
        if self.findings:
            return 2
        return 0 if self.completeness is Completeness.COMPLETE else 1
