"""One rate and how sure it is: Wilson where cells are independent, cluster-robust where they aren't.

``rate_estimate`` chooses the method, says which, and never reports an error of 0. Leaves out pass^k
(``passk``) and bootstrap intervals (``resample``).
"""

from __future__ import annotations

import math

import msgspec

from proctor.stats.cluster import (
    CONFIDENCE,
    CannotTell,
    Clusters,
    Icc,
    Interval,
    cluster_interval,
    cluster_se,
    effective_n,
    icc,
    normal_quantile,
    too_few,
)

__all__ = ["RateEstimate", "rate_estimate", "wilson"]


class RateEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A rate with its denominator, error and interval.

    ``passed`` of ``cells`` in ``clusters`` independent clusters. ``rate`` is None with no cell. ``se`` is CR1
    (the binomial error where each cell is its own cluster). ``independent_cells`` is how many independent
    cells the clustered ones are worth.
    """

    passed: float
    cells: int
    clusters: int
    rate: float | None
    se: float | CannotTell
    interval: Interval | CannotTell
    likeness: Icc | CannotTell
    independent_cells: float | CannotTell


def wilson(passed: float, cells: float, *, confidence: float = CONFIDENCE) -> Interval | CannotTell:
    """Wilson's score interval for ``passed`` of ``cells`` independent cells (E. B. Wilson 1927).

    Counts may be fractional (an effective sample size). "Cannot tell" below two cells.
    """
    if not 0 <= passed <= cells:
        raise ValueError(f"passed must be between 0 and cells; got {passed} of {cells}")
    if cells < 2:
        return too_few(int(cells), "independent cell")
    z = normal_quantile(0.5 + confidence / 2)
    p, z2 = passed / cells, z * z
    centre = (p + z2 / (2 * cells)) / (1 + z2 / cells)
    half = z / (1 + z2 / cells) * math.sqrt(p * (1 - p) / cells + z2 / (4 * cells * cells))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == cells else min(1.0, centre + half)
    return Interval(low=low, high=high, method="Wilson", confidence=confidence)


def rate_estimate(clusters: Clusters, *, confidence: float = CONFIDENCE) -> RateEstimate:
    """The rate of cells worth 0 to 1, with the interval that its clusters allow.

    - one cell a cluster, all 0 or 1: Wilson;
    - otherwise CR1 with Student's t, cut to [0, 1] and never narrower towards an end than as many clusters
      without any variation could show (else one more failure could *raise* a lower bound, by showing some
      variation);
    - no variation, all 0 or all 1: Wilson with each cluster counted once; other constants: cannot tell.
    """
    mean = clusters.mean
    se: float | CannotTell = CannotTell(reason="too few clusters, or nothing varies")
    binary = bool(((clusters.totals == 0) | (clusters.totals == 1)).all())
    if mean is not None and clusters.n_clusters >= 2 and not clusters.is_constant:
        se = float(cluster_se(clusters.totals, clusters.sizes))
    if mean is None or clusters.n_clusters < 2:
        interval: Interval | CannotTell = too_few(clusters.n_clusters)
    elif binary and clusters.n_cells == clusters.n_clusters:
        interval = wilson(float(clusters.totals.sum()), clusters.n_cells, confidence=confidence)
    else:
        interval = _clustered(clusters, mean, confidence)
    return RateEstimate(
        passed=float(clusters.totals.sum()),
        cells=clusters.n_cells,
        clusters=clusters.n_clusters,
        rate=mean,
        se=se,
        interval=interval,
        likeness=icc(clusters),
        independent_cells=effective_n(clusters),
    )


def _clustered(clusters: Clusters, mean: float, confidence: float) -> Interval | CannotTell:
    g = clusters.n_clusters
    if clusters.is_constant:
        if mean not in (0.0, 1.0):
            return CannotTell(reason="nothing varies: every cluster has the same mean")
        flat = wilson(mean * g, g, confidence=confidence)
        return (
            flat
            if isinstance(flat, CannotTell)
            else msgspec.structs.replace(flat, method="Wilson, each cluster counted once")
        )
    interval = cluster_interval(clusters, confidence=confidence)
    perfect = wilson(g, g, confidence=confidence)
    if isinstance(interval, CannotTell) or isinstance(perfect, CannotTell):
        return interval
    return msgspec.structs.replace(
        interval,
        low=max(0.0, min(interval.low, perfect.low)),
        high=min(1.0, max(interval.high, 1 - perfect.low)),
    )
