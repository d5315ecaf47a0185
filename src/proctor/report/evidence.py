"""What a page shows of a cell beside its grade: the steps that matter, what changed, how each cycle ended. Pure.

Steps are kept around those that a finding names; everything is counted, so that a page can say what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.ledger.trace import Step
from proctor.report.document import Cell
from proctor.report.worst import offending_steps
from proctor.worlds.state import Change

__all__ = ["CellEvidence", "CycleEnding", "excerpt"]

_AROUND = 2
_UNMARKED = 12


class CycleEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent's process ended a cycle. ``detail`` is the harness's word; ``stderr`` is the agent's: a claim."""

    attempt: str
    cycle: int
    reason: str
    exit_status: int | None = None
    detail: str = ""
    stderr: str = ""


class CellEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's record. ``steps`` belong to the last attempt and may be an excerpt of ``n_steps``; ``changes`` likewise
    of ``n_changes``, None where a state is not there. ``case`` is the case without its answer key."""

    cell: str
    steps: tuple[Step, ...]
    n_steps: int
    endings: tuple[CycleEnding, ...] = ()
    changes: tuple[Change, ...] | None = None
    n_changes: int = 0
    case: Mapping[str, Any] | None = None

    @property
    def events(self) -> dict[int, int]:
        """Step → number of its entry in the worker's log."""
        return {step.step: step.event for step in self.steps}


def excerpt(evidence: CellEvidence, cell: Cell, *, steps: int, changes: int) -> CellEvidence:
    """At most ``steps`` steps: those that findings name and their neighbours; the last ones where none is named."""
    marked = offending_steps(cell)
    kept = _around(evidence.steps, marked, steps) if marked else list(evidence.steps[-min(_UNMARKED, steps) :])
    return msgspec.structs.replace(
        evidence,
        steps=tuple(kept),
        changes=None if evidence.changes is None else evidence.changes[:changes],
    )


def _around(steps: Sequence[Step], marked: Mapping[int, object], limit: int) -> list[Step]:
    wanted: set[int] = set()
    for number in sorted(marked):
        more = {number} | set(range(number - _AROUND, number + _AROUND + 1))
        if len(wanted | more) > limit:
            more = {number}
        if len(wanted | more) <= limit:
            wanted |= more
    return [step for step in steps if step.step in wanted]
