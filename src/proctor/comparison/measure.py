"""Compares two grids: the difference and how sure it is, what flipped, slices, outlook, costs, and a verdict.

Better and worse are about the difference of the two rates over planned cells, paired by cell, with the case
(or its group) as the independent unit. Leaves out reading (``load``) and words (``text``).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from proctor.comparison.costs import compare_costs
from proctor.comparison.flips import count_flips, mcnemar_of
from proctor.comparison.model import (
    Comparison,
    Outlook,
    PlanRules,
    ScoredGrid,
    Side,
    SliceDifference,
)
from proctor.comparison.pairing import Pairs, SideArrays, line_up
from proctor.errors import InputError, UsageError
from proctor.kinds import Verdict
from proctor.stats.cluster import CannotTell, Clusters, FloatArray, t_quantile
from proctor.stats.estimate import rate_estimate
from proctor.stats.multiple import benjamini_hochberg, holm
from proctor.stats.paired import Answer, Difference, answer, mean_difference
from proctor.stats.power import clusters_needed, detectable_difference
from proctor.stats.resample import DEFAULT_RESAMPLES, DEFAULT_SEED, bootstrap

__all__ = ["Method", "compare_grids"]

_OUTCOME: Final = {
    Answer.BETTER: Verdict.PASS,
    Answer.NOT_WORSE: Verdict.PASS,
    Answer.WORSE: Verdict.BLOCK,
    Answer.CANNOT_TELL: Verdict.UNDECIDED,
}
_FIELDS: Final = {
    "dataset": "dataset digest",
    "grader": "grader version",
    "rules": "suite's rules (contract, budgets)",
    "cells": "planned cells",
}


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """How to measure. ``interval`` "clustered" is CR1; the other two are the paired cluster bootstrap.

    ``infra_cap`` is the largest share of planned cells that either side may leave unresolved.
    """

    interval: Literal["clustered", "percentile", "bca"] = "clustered"
    adjustment: Literal["holm", "bh"] = "holm"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    infra_cap: float = 0.05
    allow_incomparable: bool = False


def compare_grids(
    old: ScoredGrid,
    new: ScoredGrid,
    *,
    plan: PlanRules | None = None,
    margin: float | None = None,
    method: Method | None = None,
) -> Comparison:
    """The candidate ``new`` against the baseline ``old``.

    ``plan`` fixes the denominator; without it the cells of both do. ``margin`` (0.02: two points) is how much
    worse is still fine; by default the one that a registered plan declares. Raises ``InputError`` where the
    two can't be compared or their rows contradict each other.
    """
    method = method or Method()
    if margin is not None and not 0 < margin < 1:
        raise UsageError("no margin", expected="more than 0, less than 1 (0.02 is two points)", found=margin)
    stamps = _check_comparable(old, new, method)
    margin, registered, said = _choose_margin(old, new, plan, margin)
    stamps += said
    pairs = line_up(old, new, plan)
    worst = _difference(pairs, pairs.new.low - pairs.old.high, method)
    best = worst
    if (pairs.new.low != pairs.new.high).any() or (pairs.old.low != pairs.old.high).any():
        best = _difference(pairs, pairs.new.high - pairs.old.low, method)
    baseline, candidate = _side(old, pairs, pairs.old), _side(new, pairs, pairs.new)
    verdict, outcome, reasons = _decide(
        worst, best, margin=margin, sides=(baseline, candidate), planned=len(pairs.keys), method=method
    )
    flips, fixed, broken = count_flips(pairs)
    slices = _slices(pairs, method)
    costs, costs_note = compare_costs(pairs, outcome, (old, new))
    bootstrapped = method.interval != "clustered"
    binary = _is_binary(pairs)
    return Comparison(
        verdict=verdict,
        outcome=outcome,
        baseline=baseline,
        candidate=candidate,
        planned=len(pairs.keys),
        cases=len(pairs.case_names),
        clusters=pairs.n_clusters,
        grouped=pairs.grouped,
        binary=binary,
        difference=worst,
        difference_best=best,
        margin=margin,
        margin_registered=registered,
        flips=flips,
        fixed=fixed,
        broken=broken,
        mcnemar=mcnemar_of(pairs, flips) if binary else None,
        slices=slices,
        worst_slice=slices[0].slice if slices else None,
        adjustment=method.adjustment,
        outlook=_outlook(worst, outcome, margin),
        costs=costs,
        costs_note=costs_note,
        stamps=tuple(stamps),
        notes=(*reasons, *_notes(pairs, plan, old, new)),
        seed=method.seed if bootstrapped else None,
        resamples=method.resamples if bootstrapped else None,
    )


def _check_comparable(old: ScoredGrid, new: ScoredGrid, method: Method) -> list[str]:
    """Refuse two grids that were not measured with the same yardstick; what was allowed is stamped."""
    differ = []
    for name, words in _FIELDS.items():
        first, second = getattr(old.identity, name), getattr(new.identity, name)
        if first is not None and second is not None and first != second:
            differ.append(f"{words}: {first} and {second}")
    if not differ:
        return []
    if not method.allow_incomparable:
        raise InputError(
            "these two can't be compared: they differ in " + "; ".join(differ),
            expected="results over the same dataset, graders, rules and runs",
            fix="score both again with the same suite, or give --allow-incomparable, which stamps the result",
            code="incomparable",
        )
    return [f"INCOMPARABLE INPUTS ALLOWED: they differ in {item}" for item in differ]


def _choose_margin(
    old: ScoredGrid, new: ScoredGrid, plan: PlanRules | None, margin: float | None
) -> tuple[float | None, bool, list[str]]:
    """The margin, whether a registered plan declares it, and the stamp if it doesn't."""
    source = plan.name if plan is not None else "nowhere"
    unseen = f"RULE NOT REGISTERED: the margin is from {source}; nobody witnessed that it came before the results"
    registered = {grid.margin for grid in (old, new) if grid.margin is not None}
    witnessed = {grid.identity.plan for grid in (old, new) if grid.identity.plan is not None}
    if plan is not None and plan.margin is not None and plan.digest in witnessed:
        registered.add(plan.margin)
    if margin is None:
        if len(registered) == 1:
            return registered.pop(), True, []
        if plan is not None and plan.margin is not None:
            return plan.margin, False, [unseen]
        return None, False, []
    if margin in registered and len(registered) == 1:
        return margin, True, []
    if plan is not None and plan.margin == margin:
        return margin, False, [unseen]
    return margin, False, ["RULE CHOSEN AFTER THE RESULTS: the margin stands in no registered plan"]


def _difference(pairs: Pairs, values: FloatArray, method: Method) -> Difference:
    clusters = Clusters.of_codes(values, pairs.clusters, pairs.n_clusters)
    measured = mean_difference(clusters)
    if method.interval == "clustered":
        return measured
    resampled = bootstrap(clusters, resamples=method.resamples, seed=method.seed)
    if isinstance(resampled, CannotTell):
        return measured
    interval = resampled.bca if method.interval == "bca" else resampled.percentile
    return msgspec.structs.replace(measured, interval=interval)


def _side(grid: ScoredGrid, pairs: Pairs, side: SideArrays) -> Side:
    low = rate_estimate(Clusters.of_codes(side.low, pairs.clusters, pairs.n_clusters))
    bounded = bool((side.low != side.high).any())
    return Side(
        name=grid.name,
        low=low,
        high=rate_estimate(Clusters.of_codes(side.high, pairs.clusters, pairs.n_clusters)) if bounded else low,
        missing=int(side.missing.sum()),
        unresolved=int(side.unresolved.sum()),
        unknown=int(side.unknown.sum()),
        gate=grid.gate,
    )


def _decide(
    worst: Difference,
    best: Difference,
    *,
    margin: float | None,
    sides: tuple[Side, Side],
    planned: int,
    method: Method,
) -> tuple[str, Verdict, list[str]]:
    """The verdict over both readings of unresolved cells; INVALID above the cap."""
    for side in sides:
        if side.unresolved > method.infra_cap * planned:
            share = f"{side.unresolved} of {planned} cells ended in infrastructure or grader errors"
            cap = f"above the cap of {method.infra_cap:.0%}"
            return "invalid", Verdict.INVALID, [f"{side.name}: {share}, {cap}"]
    answers = {answer(reading.interval, margin) for reading in (worst, best)}
    if len(answers) == 1:
        found = answers.pop()
        return found.value, _OUTCOME[found], []
    if answers == {Answer.BETTER, Answer.NOT_WORSE}:
        return Answer.NOT_WORSE.value, Verdict.PASS, []
    tip = "cells without a known end could tip the answer: the range covers both readings"
    return Answer.CANNOT_TELL.value, Verdict.UNDECIDED, [tip]


def _slices(pairs: Pairs, method: Method) -> tuple[SliceDifference, ...]:
    """Each slice's difference, unresolved cells against the candidate; worst first."""
    names = sorted({name for name in pairs.slices if name is not None})
    if not names:
        return ()
    where = {name: np.array([s == name for s in pairs.slices], dtype=np.bool_) for name in names}
    measured = {name: _slice(pairs, here) for name, here in where.items()}
    tested = [name for name in names if not isinstance(measured[name].p, CannotTell)]
    adjust = holm if method.adjustment == "holm" else benjamini_hochberg
    p_values = [p for p in (measured[name].p for name in tested) if not isinstance(p, CannotTell)]
    adjusted = dict(zip(tested, adjust(p_values), strict=True))
    found = [
        SliceDifference(
            slice=name,
            difference=measured[name],
            before=float(pairs.old.high[where[name]].mean()),
            after=float(pairs.new.low[where[name]].mean()),
            adjusted_p=adjusted.get(name),
        )
        for name in names
    ]
    return tuple(sorted(found, key=lambda item: (item.difference.value or 0.0, item.slice)))


def _slice(pairs: Pairs, here: npt.NDArray[np.bool_]) -> Difference:
    values = (pairs.new.low - pairs.old.high)[here]
    return mean_difference(Clusters.of_codes(values, pairs.clusters[here], pairs.n_clusters))


def _outlook(difference: Difference, outcome: Verdict, margin: float | None) -> Outlook:
    interval, value, g = difference.interval, difference.value, difference.clusters
    if isinstance(interval, CannotTell) or value is None:
        return Outlook(detectable=None, independent=g, needed=None, question="at least 2 independent cases are needed")
    wide = (interval.high - interval.low) / 2 / t_quantile(0.975, g + 1)
    se = wide if isinstance(difference.se, CannotTell) else difference.se
    needed = None
    question = "settled"
    if outcome is Verdict.UNDECIDED:
        bound = 0.0 if margin is None else -margin
        distance = value - bound
        needed = clusters_needed(max(se, wide), g, distance) if abs(distance) > 1e-12 else None
        needed = None if needed is None else max(needed, g + 1)
        question = "which of the two is better" if margin is None else f"whether it is worse by more than {margin:g}"
    return Outlook(detectable=detectable_difference(se), independent=g, needed=needed, question=question)


def _is_binary(pairs: Pairs) -> bool:
    return all(bool(((a == 0) | (a == 1)).all()) for a in (pairs.old.low, pairs.new.low))


def _notes(pairs: Pairs, plan: PlanRules | None, old: ScoredGrid, new: ScoredGrid) -> list[str]:
    notes = [note for grid in (old, new) for note in grid.notes]
    if plan is None and (pairs.only_old or pairs.only_new):
        notes.append(
            f"only {old.name} has {pairs.only_old} cells, only {new.name} has {pairs.only_new}; "
            "each counts as failed for the other"
        )
    if plan is None and pairs.only_new:
        notes.append(
            f"cells that only {new.name} has could be taken out of it unseen: give --plan to fix the denominator"
        )
    unknown = int((pairs.old.unknown | pairs.new.unknown).sum())
    if unknown:
        notes.append(f"{unknown} cells have no record of how they ended: figures are ranges")
    if old.margin is not None and new.margin is not None and old.margin != new.margin:
        notes.append(f"the two plans declare different margins ({old.margin:g} and {new.margin:g})")
    return notes
