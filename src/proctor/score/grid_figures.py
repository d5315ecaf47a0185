"""A filled grid in figures, each with its denominator: planned cells, whatever came. Pure, and one pass of numpy each.

Left out: intervals (``stats``), what follows from the figures (``gate``).
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from proctor.grade.records import MISSING
from proctor.score.grid import Grid
from proctor.score.summary import Rate

__all__ = ["GridFigures", "UsageFigure", "grid_figures"]


class UsageFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A usage figure over the cells where it is known. ``unknown`` cells are none of the total: it is then None."""

    total: int | float | None
    known_total: int | float
    largest: int | float | None
    known: int
    unknown: int


class GridFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All figures. ``all_runs_pass`` counts cases; ``traffic_weighted`` is None where a slice with traffic has no
    cell, or where the suite gives no shares."""

    overall: Rate
    coverage: Rate
    all_runs_pass: Rate
    by_run: tuple[Rate, ...]
    by_slice: dict[str, Rate]
    failure_counts: dict[str, int]
    traffic_weighted: float | None
    usage: dict[str, UsageFigure]


def grid_figures(grid: Grid) -> GridFigures:
    """Figures over all planned cells."""
    masks = np.frombuffer(grid.masks, dtype=np.uint32).reshape(len(grid.cases.ids), grid.repeats)
    passed = masks == 0
    slices = np.frombuffer(grid.cases.slices, dtype=np.uint16)
    by_slice = {}
    for code, name in enumerate(grid.cases.slice_names):
        here = passed[slices == code]
        if here.size:
            by_slice[name] = _rate(here)
    counts = {name: int(np.count_nonzero(masks & (1 << bit))) for bit, name in enumerate(grid.program.labels)}
    return GridFigures(
        overall=_rate(passed),
        coverage=_rate(masks != MISSING),
        all_runs_pass=_rate(passed.all(axis=1)),
        by_run=tuple(_rate(passed[:, run]) for run in range(grid.repeats)),
        by_slice=by_slice,
        failure_counts={name: counts[name] for name in sorted(counts) if counts[name]},
        traffic_weighted=_weighted(by_slice, grid.program.spec.traffic),
        usage={
            name: _usage(np.frombuffer(column), int if grid.program.spec.usage[name] == "int" else float)
            for name, column in grid.usage.items()
        },
    )


def _rate(passed: npt.NDArray[Any]) -> Rate:
    return Rate.of(int(np.count_nonzero(passed)), int(passed.size))


def _weighted(by_slice: dict[str, Rate], traffic: dict[str, float] | None) -> float | None:
    if traffic is None:
        return None
    rates = [(share, by_slice[name].rate if name in by_slice else None) for name, share in traffic.items() if share]
    return None if any(rate is None for _, rate in rates) else math.fsum(share * (rate or 0.0) for share, rate in rates)


def _usage(column: npt.NDArray[np.float64], kind: type[int] | type[float]) -> UsageFigure:
    known = column[~np.isnan(column)]
    total = kind(math.fsum(known))
    unknown = int(column.size - known.size)
    return UsageFigure(
        total=None if unknown else total,
        known_total=total,
        largest=kind(known.max()) if known.size else None,
        known=int(known.size),
        unknown=unknown,
    )
