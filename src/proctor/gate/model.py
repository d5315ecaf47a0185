"""The gate's rules as values, in their layers, and the digest that registers them.

Leaves out reading (``policy``) and applying them (``decide``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from proctor.codec.canonical import digest_json

__all__ = [
    "CaseRule",
    "EveryRunRule",
    "Held",
    "Layer",
    "MetricRule",
    "Policy",
    "Rule",
    "ThresholdRule",
    "ZeroRule",
]


class Layer(StrEnum):
    """The order in which rules are listed; the first layer that does not hold names the verdict's reason."""

    INTEGRITY = "integrity"
    SAFETY = "safety"
    STATE = "state"
    PROCESS = "process"
    STATISTICS = "statistics"
    COST = "cost"


class Held(StrEnum):
    """Whether a rule holds: in both bounds, in neither, or only if unresolved cells fall one way."""

    HOLDS = "holds"
    BROKEN = "broken"
    OPEN = "open"


class ZeroRule(msgspec.Struct, frozen=True, kw_only=True, tag="zero"):
    """No planned cell ends in this outcome or carries this reason code.

    A code without a dot also stands for the suites' codes of that name (``late`` for ``refund.late``).
    """

    what: str
    layer: Layer


class ThresholdRule(msgspec.Struct, frozen=True, kw_only=True, tag="threshold"):
    """The share of passed cells (or the lower end of its 95% interval) is at least ``at_least``.

    ``slice`` None: over all planned cells; ``"*"``: in each slice without a rule of its own.
    """

    slice: str | None
    figure: Literal["rate", "lower_bound"]
    at_least: float


class EveryRunRule(msgspec.Struct, frozen=True, kw_only=True, tag="every_run"):
    """Each case passes in every run: all cases (``slice`` and ``case`` None), or those of a slice, or one
    case.
    """

    slice: str | None = None
    case: str | None = None


class CaseRule(msgspec.Struct, frozen=True, kw_only=True, tag="case"):
    """A case passes in at least ``passes`` of its ``of`` planned runs; ``case`` None: each case."""

    case: str | None
    passes: int
    of: int


class MetricRule(msgspec.Struct, frozen=True, kw_only=True, tag="metric"):
    """A metric, pooled over the planned cells, is at least ``at_least``.

    A cell without a value breaks it, but with ``nulls = "skip"`` a cell that had nothing to measure does not.
    """

    name: str
    at_least: float
    nulls: Literal["fail", "skip"] = "fail"


Rule: TypeAlias = ZeroRule | ThresholdRule | EveryRunRule | CaseRule | MetricRule


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """All rules of a gate. At least one rule stands in it; "nothing asked" never passes.

    ``integrity`` "required": a run whose evidence nobody verified is invalid (broken evidence always is).
    ``usage`` "required": unknown or invalid usage breaks the gate. ``infra_cap`` is the largest share of
    planned cells that may stay unresolved. ``margin`` is how much worse a candidate may be than its baseline
    (0.02: two points), or None.
    """

    rules: tuple[Rule, ...]
    integrity: Literal["report", "required"] = "report"
    usage: Literal["report", "required"] = "report"
    failed_attempts: Literal["block", "allow-infra"] = "block"
    infra_cap: float = 0.05
    margin: float | None = None

    def to_document(self) -> dict[str, Any]:
        """The policy as JSON, all defaults written out."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document

    @property
    def digest(self) -> str:
        """What a plan registers: comments, order of keys and spelling of numbers in the file don't change
        it.
        """
        return digest_json(self.to_document())
