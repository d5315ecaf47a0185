"""``compare(old, new, …)`` for scripts and notebooks: paths, data frames, rows, runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from proctor.comparison.columns import Columns
from proctor.comparison.load import load_grid, load_plan
from proctor.comparison.measure import Method, compare_grids
from proctor.comparison.model import Comparison, PlanRules
from proctor.stats.resample import DEFAULT_RESAMPLES, DEFAULT_SEED

__all__ = ["compare"]


def compare(
    old: Any,
    new: Any,
    *,
    case: str | None = None,
    run: str | None = None,
    passed: str | None = None,
    score: str | None = None,
    group: str | None = None,
    slice: str | None = None,
    status: str | None = None,
    tokens: str | None = None,
    cost: str | None = None,
    pass_at: float | None = None,
    plan: str | Path | PlanRules | None = None,
    margin: float | None = None,
    interval: Literal["clustered", "percentile", "bca"] = "clustered",
    adjust: Literal["holm", "bh"] = "holm",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    infra_cap: float = 0.05,
    allow_incomparable: bool = False,
) -> Comparison:
    """Is ``new`` worse or better than ``old``, by how much, and how sure is that?

    ``old`` and ``new``: a path (CSV, TSV, JSONL, Parquet, a report, a run's folder), a data frame, a list of
    mappings, or a run. The column arguments name columns that the guess gets wrong. ``margin`` 0.02 asks
    whether ``new`` is not worse by more than two points. Raises ``InputError`` for rows or files that can't
    be used.
    """
    columns = Columns(
        case=case,
        run=run,
        passed=passed,
        score=score,
        group=group,
        slice=slice,
        status=status,
        tokens=tokens,
        cost=cost,
    )
    rules = plan if plan is None or isinstance(plan, PlanRules) else load_plan(plan, columns)
    method = Method(
        interval=interval,
        adjustment=adjust,
        resamples=resamples,
        seed=seed,
        infra_cap=infra_cap,
        allow_incomparable=allow_incomparable,
    )
    return compare_grids(
        load_grid(old, columns, name="old", pass_at=pass_at).grid,
        load_grid(new, columns, name="new", pass_at=pass_at).grid,
        plan=rules,
        margin=margin,
        method=method,
    )
