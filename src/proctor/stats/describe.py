"""All figures of one candidate over its planned cells: the rate and its interval, likeness of runs,
reliability, slices.

Takes one value a planned cell, so that missing cells are in it as failures. Leaves out thresholds (``gate``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from proctor.stats.cluster import Clusters
from proctor.stats.estimate import RateEstimate, rate_estimate
from proctor.stats.passk import Reliability, pass_k

__all__ = ["CellFact", "Statistics", "describe"]

_MOST_K: Final = 10


class CellFact(msgspec.Struct, frozen=True, kw_only=True):
    """A planned cell: whether it passed, and whether nobody can say (an infrastructure or grader error).

    ``group`` None: the case is its own cluster.
    """

    case: str
    passed: bool
    unresolved: bool = False
    slice: str | None = None
    group: str | None = None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Figures over all planned cells.

    ``low`` counts unresolved cells as failed, ``high`` as passed. ``reliability`` holds pass^k and pass@k for
    k up to the largest number of runs (at most 10), unresolved cells counted as failed. ``slices`` are sorted
    by name; ``worst_slice`` has the lowest rate.
    """

    low: RateEstimate
    high: RateEstimate
    reliability: tuple[Reliability, ...]
    slices: dict[str, RateEstimate]
    worst_slice: str | None


def describe(cells: Sequence[CellFact]) -> Statistics:
    """The figures of these planned cells; their order changes nothing."""
    ordered = sorted(cells, key=lambda cell: (cell.case, cell.passed, cell.unresolved))
    low = rate_estimate(_clusters(ordered))
    unsure = any(cell.unresolved for cell in ordered)
    runs: dict[str, list[int]] = {}
    for cell in ordered:
        counts = runs.setdefault(cell.case, [0, 0])
        counts[0] += cell.passed and not cell.unresolved
        counts[1] += 1
    pairs = [(passed, n) for passed, n in runs.values()]
    largest = max((n for _, n in pairs), default=0)
    names = sorted({cell.slice for cell in ordered if cell.slice is not None})
    slices = {name: rate_estimate(_clusters([c for c in ordered if c.slice == name])) for name in names}
    return Statistics(
        low=low,
        high=rate_estimate(_clusters(ordered, best=True)) if unsure else low,
        reliability=tuple(pass_k(pairs, k) for k in range(1, min(largest, _MOST_K) + 1)),
        slices=slices,
        worst_slice=min(names, key=lambda name: (slices[name].rate or 0.0, name), default=None),
    )


def _clusters(cells: Sequence[CellFact], *, best: bool = False) -> Clusters:
    values = np.array([float(cell.passed or (best and cell.unresolved)) for cell in cells], dtype=np.float64)
    if not best:
        values *= np.array([not cell.unresolved for cell in cells], dtype=np.float64)
    keys = [("g", cell.group) if cell.group is not None else ("c", cell.case) for cell in cells]
    return Clusters.of_cells(values, keys)
