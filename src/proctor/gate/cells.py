"""What the gate is told: the planned cells, how each ended, and what is known about the run as a whole.

Values only. Leaves out how they came about; a runner, a scored file or an import fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from proctor.kinds import Outcome

__all__ = ["CellResult", "PlannedCell", "RunFacts", "UsageFact"]


class PlannedCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of the plan: part of every denominator, whatever becomes of it.

    ``run`` counts from 1. ``group`` names the cluster that several cases share; None: the case is its own.
    """

    case: str
    run: int
    slice: str | None = None
    group: str | None = None

    @property
    def cell(self) -> str:
        """``CASE/RUN``."""
        return f"{self.case}/{self.run}"


class CellResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a cell ended.

    ``codes`` are the reason codes of its grade, ``critical`` those that block whatever the rates say (they
    need not be in ``codes``). ``metrics`` are numerator and denominator by name, pooled over cells; a
    denominator of 0 means that there was nothing to measure. ``tokens`` and ``cost_usd`` are None where
    unknown, never 0. ``slice`` and ``group`` must agree with the plan where they are given.
    """

    case: str
    run: int
    outcome: Outcome
    slice: str | None = None
    group: str | None = None
    codes: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    metrics: Mapping[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    tokens: int | None = None
    cost_usd: float | None = None


class UsageFact(msgspec.Struct, frozen=True, kw_only=True):
    """What reducing the usage records gave: ``within_budget`` is None where no budget was set or usage is
    unknown.

    ``failed_infra_attempts`` are those of the ``failed_attempts`` that infrastructure caused.
    """

    valid: bool
    within_budget: bool | None = None
    failed_attempts: int = 0
    failed_infra_attempts: int = 0


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about the whole run: None means that nobody looked.

    ``integrity`` says whether the evidence verifies and the demanded isolation held.
    """

    integrity: bool | None = None
    integrity_note: str = ""
    usage: UsageFact | None = None
