"""Lines two grids up on one set of planned cells. A cell that only one of them has counts against the other.

Without a plan the cells of both files together are the plan. Nothing is ever dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from proctor.comparison.model import PlanRules, RunLabel, ScoredCell, ScoredGrid
from proctor.errors import InputError, Place
from proctor.stats.cluster import FloatArray

__all__ = ["Pairs", "SideArrays", "line_up"]

Key: TypeAlias = tuple[str, RunLabel]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideArrays:
    """One side, a number a planned cell: ``low`` counts unresolved cells as failed, ``high`` as passed.

    ``tokens`` and ``cost_usd`` are NaN where unknown (inside these arrays only).
    """

    low: FloatArray
    high: FloatArray
    missing: npt.NDArray[np.bool_]
    unresolved: npt.NDArray[np.bool_]
    unknown: npt.NDArray[np.bool_]
    tokens: FloatArray
    cost_usd: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Both sides over the same cells, sorted by case and run."""

    keys: list[Key]
    slices: list[str | None]
    clusters: npt.NDArray[np.intp]
    n_clusters: int
    grouped: bool
    cases: npt.NDArray[np.intp]
    case_names: list[str]
    old: SideArrays
    new: SideArrays
    only_old: int
    only_new: int


def line_up(old: ScoredGrid, new: ScoredGrid, plan: PlanRules | None) -> Pairs:
    """Both grids on the planned cells. Raises ``InputError`` for a repeated, unplanned or contradictory
    cell.
    """
    sides = _by_key(old), _by_key(new)
    if plan is None:
        keys = sorted(sides[0].keys() | sides[1].keys(), key=_order)
        slices, groups = {}, {}
    else:
        keys = sorted({(cell.case, cell.run) for cell in plan.cells}, key=_order)
        if len(keys) != len(plan.cells):
            raise InputError("the plan names a cell twice", place=Place(plan.name), expected="each cell once")
        slices = {cell.case: cell.slice for cell in plan.cells if cell.slice is not None}
        groups = {cell.case: cell.group for cell in plan.cells if cell.group is not None}
        for grid, side in zip((old, new), sides, strict=True):
            _refuse_unplanned(grid, side, set(keys))
    if not keys:
        raise InputError("no cell to compare", expected="at least one row in either file, or a plan with cells")
    if sides[0] and sides[1] and {k[0] for k in sides[0]}.isdisjoint(k[0] for k in sides[1]):
        raise InputError(
            "the two have no case in common",
            expected="the same case ids in both",
            found=f"{min(sides[0], key=_order)[0]!r} … and {min(sides[1], key=_order)[0]!r} …",
            fix="name the column of the case ids with --case",
        )
    _labels(slices, "slice", old, new)
    _labels(groups, "group", old, new)
    case_names, cases = _number([case for case, _ in keys])
    clusters, cluster_of = _number([("g", groups[c]) if c in groups else ("c", c) for c, _ in keys])
    return Pairs(
        keys=keys,
        slices=[slices.get(case) for case, _ in keys],
        clusters=cluster_of,
        n_clusters=len(clusters),
        grouped=len(clusters) < len(case_names),
        cases=cases,
        case_names=[str(name) for name in case_names],
        old=_arrays(keys, sides[0]),
        new=_arrays(keys, sides[1]),
        only_old=sum(key in sides[0] and key not in sides[1] for key in keys),
        only_new=sum(key in sides[1] and key not in sides[0] for key in keys),
    )


def _order(key: Key) -> tuple[str, bool, int, str]:
    case, run = key
    return (case, True, 0, run) if isinstance(run, str) else (case, False, run, "")


def _by_key(grid: ScoredGrid) -> dict[Key, ScoredCell]:
    cells: dict[Key, ScoredCell] = {}
    for cell in grid.cells:
        if (cell.case, cell.run) in cells:
            raise InputError(
                "a case and run twice",
                place=Place(grid.name, field=f"{cell.case}/{cell.run}"),
                expected="each case and run once",
                fix="name the column that tells its runs apart with --run",
            )
        cells[cell.case, cell.run] = cell
    return cells


def _refuse_unplanned(grid: ScoredGrid, side: Mapping[Key, ScoredCell], planned: set[Key]) -> None:
    extra = sorted(side.keys() - planned, key=_order)
    if extra:
        raise InputError(
            f"{len(extra)} cells that were never planned",
            place=Place(grid.name, field="/".join(map(str, extra[0]))),
            expected="only cells of the plan",
            fix="compare with the plan that these results were made for",
        )


def _labels(known: dict[str, str], what: str, *grids: ScoredGrid) -> None:
    """Slices or groups by case: the plan's, else what the files say, which must agree."""
    fixed = set(known)
    for grid in grids:
        for cell in grid.cells:
            label = cell.slice if what == "slice" else cell.group
            if label is None or cell.case in fixed:
                continue
            if known.setdefault(cell.case, label) != label:
                raise InputError(
                    f"a case in two {what}s",
                    place=Place(grid.name, field=cell.case),
                    expected=f"the {what} {known[cell.case]!r}, as elsewhere",
                    found=label,
                    fix=f"name the right column with --{what}, or give --{what} none",
                )


def _number(names: Iterable[Hashable]) -> tuple[list[Hashable], npt.NDArray[np.intp]]:
    order: dict[Hashable, int] = {}
    codes = [order.setdefault(name, len(order)) for name in names]
    return list(order), np.array(codes, dtype=np.intp)


def _arrays(keys: list[Key], side: Mapping[Key, ScoredCell]) -> SideArrays:
    n = len(keys)
    low, high = np.zeros(n), np.zeros(n)
    flags = np.zeros((3, n), dtype=np.bool_)
    tokens, cost = np.full(n, np.nan), np.full(n, np.nan)
    for index, key in enumerate(keys):
        cell = side.get(key)
        if cell is None or cell.missing:
            flags[0, index] = True
            continue
        if cell.tokens is not None:
            tokens[index] = cell.tokens
        if cell.cost_usd is not None:
            cost[index] = cell.cost_usd
        if cell.unresolved or cell.value is None:
            high[index] = 1.0
            flags[1 if cell.unresolved else 2, index] = True
        else:
            low[index] = high[index] = cell.value
    return SideArrays(
        low=low, high=high, missing=flags[0], unresolved=flags[1], unknown=flags[2], tokens=tokens, cost_usd=cost
    )
