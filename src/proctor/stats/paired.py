"""Two candidates on the same cells: the mean difference, its clustered error, McNemar's test,
non-inferiority.

A difference is candidate minus baseline, so more is better. Leaves out lining the cells up (``comparison``).
"""

from __future__ import annotations

import math
from enum import StrEnum

import msgspec
import numpy as np

from proctor.stats.cluster import (
    CONFIDENCE,
    CannotTell,
    Clusters,
    FloatArray,
    Interval,
    cluster_interval,
    cluster_se,
    too_few,
)

__all__ = ["Answer", "Difference", "McNemar", "answer", "mcnemar_exact", "mean_difference", "p_value"]


class Answer(StrEnum):
    """What an interval of the difference says, against a margin where one was declared."""

    BETTER = "better"
    NOT_WORSE = "not worse"
    WORSE = "worse"
    CANNOT_TELL = "can't tell"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A mean difference over ``cells`` in ``clusters``, with its CR1 error, two-sided p-value and interval.

    ``se`` and ``p`` can't be told where no two clusters differ; the interval then still bounds the
    difference, by its pseudo-clusters.
    """

    value: float | None
    cells: int
    clusters: int
    se: float | CannotTell
    p: float | CannotTell
    interval: Interval | CannotTell
    clustered: Interval | CannotTell


class McNemar(msgspec.Struct, frozen=True, kw_only=True):
    """Exact two-sided test on the cells that only one of the two passed. One run a case, no groups."""

    only_candidate: int
    only_baseline: int
    p: float


def mean_difference(clusters: Clusters, *, confidence: float = CONFIDENCE) -> Difference:
    """The mean of differences in [−1, 1] and how sure it is.

    CR1 alone is far too sure where few clusters differ: one flip in 200 cases would count as a known rate of
    flips. So the same is computed with two more clusters, one that gained and one that lost (D. G. Bonett and
    R. M. Price 2012, for pairs), and the interval covers both, and ``p`` is the larger. The pseudo-clusters
    change by what clusters that changed did on average, with one whole change added to that average: (1 +
    Σ|d|) / (1 + m).
    """
    mean = clusters.mean
    if mean is None or clusters.n_clusters < 2:
        reason = too_few(clusters.n_clusters)
        return Difference(
            value=mean,
            cells=clusters.n_cells,
            clusters=clusters.n_clusters,
            se=reason,
            p=reason,
            interval=reason,
            clustered=reason,
        )
    steady = _with_pseudo_clusters(clusters)
    wide = cluster_interval(steady, confidence=confidence)
    plain = cluster_interval(clusters, confidence=confidence)
    same = CannotTell(reason="nothing varies: every cluster has the same difference")
    se = same if clusters.is_constant else float(cluster_se(clusters.totals, clusters.sizes))
    return Difference(
        value=mean,
        cells=clusters.n_cells,
        clusters=clusters.n_clusters,
        se=se,
        p=se if isinstance(se, CannotTell) else max(_p_of(clusters), _p_of(steady)),
        interval=_join(plain, wide),
        clustered=plain,
    )


def _p_of(clusters: Clusters) -> float:
    se = float(cluster_se(clusters.totals, clusters.sizes))
    return p_value(clusters.mean or 0.0, se, clusters.n_clusters)


def _with_pseudo_clusters(clusters: Clusters) -> Clusters:
    size = clusters.n_cells / clusters.n_clusters
    changes = np.abs(clusters.totals / clusters.sizes)
    change = (1 + float(changes.sum())) / (1 + int((changes > 0).sum()))
    total = size * change
    return Clusters(
        totals=_append(clusters.totals, (total, -total)),
        sizes=_append(clusters.sizes, (size, size)),
        squares=_append(clusters.squares, (total * change, total * change)),
    )


def _append(array: FloatArray, values: tuple[float, float]) -> FloatArray:
    return np.concatenate([array, np.array(values)])


def _join(plain: Interval | CannotTell, wide: Interval | CannotTell) -> Interval | CannotTell:
    if isinstance(wide, CannotTell):
        return wide
    if isinstance(plain, CannotTell):
        return Interval(
            low=max(-1.0, wide.low),
            high=min(1.0, wide.high),
            method="CR1 with two pseudo-clusters (nothing varies)",
            confidence=wide.confidence,
        )
    return Interval(
        low=max(-1.0, min(plain.low, wide.low)),
        high=min(1.0, max(plain.high, wide.high)),
        method="CR1, Student's t, not narrower than with two pseudo-clusters",
        confidence=plain.confidence,
    )


def p_value(difference: float, se: float, clusters: int) -> float:
    """Two-sided p of no difference: Student's t on ``clusters`` − 1 degrees of freedom."""
    from scipy import special  # noqa: PLC0415 - heavy, only needed here

    return float(2 * special.stdtr(clusters - 1, -abs(difference / se)))


def mcnemar_exact(only_candidate: int, only_baseline: int) -> McNemar:
    """McNemar's exact test: 2 × the binomial tail at one half, at most 1."""
    if only_candidate < 0 or only_baseline < 0:
        raise ValueError(f"counts can't be negative; got {only_candidate} and {only_baseline}")
    from scipy import special  # noqa: PLC0415 - heavy, only needed here

    n = only_candidate + only_baseline
    p = min(1.0, 2 * float(special.bdtr(min(only_candidate, only_baseline), n, 0.5))) if n else 1.0
    return McNemar(only_candidate=only_candidate, only_baseline=only_baseline, p=p)


def answer(interval: Interval | CannotTell, margin: float | None = None) -> Answer:
    """Better, not worse, worse, or can't tell.

    Without a margin: better or worse where the interval leaves out 0. With one: better above 0, not worse (by
    more than the margin) above −margin, worse where the whole interval lies below −margin; an interval that
    spans −margin can't tell, even if it lies below 0.
    """
    if isinstance(interval, CannotTell) or math.isnan(interval.low):
        return Answer.CANNOT_TELL
    if interval.low > 0:
        return Answer.BETTER
    if margin is not None and interval.low > -margin:
        return Answer.NOT_WORSE
    if interval.high < -(margin or 0.0):
        return Answer.WORSE
    return Answer.CANNOT_TELL
