"""Tokens and money, compared only between candidates that pass: a cheap failure is no saving."""

from __future__ import annotations

import numpy as np

from proctor.comparison.model import Costs, ScoredGrid
from proctor.comparison.pairing import Pairs
from proctor.kinds import Verdict
from proctor.stats.cluster import Clusters, FloatArray, cluster_interval

__all__ = ["compare_costs"]


def compare_costs(
    pairs: Pairs, outcome: Verdict, grids: tuple[ScoredGrid, ScoredGrid]
) -> tuple[tuple[Costs, ...], str]:
    """Costs over the cells where both sides know them, and why they aren't compared where they aren't."""
    known = {
        "tokens": (pairs.old.tokens, pairs.new.tokens),
        "USD": (pairs.old.cost_usd, pairs.new.cost_usd),
    }
    known = {what: pair for what, pair in known.items() if bool((~np.isnan(pair[0] + pair[1])).any())}
    if not known:
        return (), "no cell has a cost in both"
    failing = [grid.name for grid in grids if grid.gate is not None and grid.gate != Verdict.PASS.name]
    if failing:
        return (), f"not compared: {', '.join(failing)} did not pass its gate"
    if outcome is not Verdict.PASS:
        return (), "not compared: the candidate isn't shown to be as good"
    return tuple(_cost(pairs, what, *pair) for what, pair in known.items()), ""


def _cost(pairs: Pairs, what: str, old: FloatArray, new: FloatArray) -> Costs:
    here = ~np.isnan(old + new)
    clusters = Clusters.of_codes((new - old)[here], pairs.clusters[here], pairs.n_clusters)
    complete = bool(here.all())
    return Costs(
        what=what,
        cells=int(here.sum()),
        planned=len(pairs.keys),
        before=float(old[here].mean()),
        after=float(new[here].mean()),
        interval=cluster_interval(clusters),
        per_pass_before=_per_pass(old, pairs.old.low) if complete else None,
        per_pass_after=_per_pass(new, pairs.new.low) if complete else None,
    )


def _per_pass(cost: FloatArray, passed: FloatArray) -> float | None:
    total = float(passed.sum())
    return float(cost.sum()) / total if total else None
