"""A ratio of two sums over clusters, such as cost per passed cell, with its interval. Pure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import msgspec

__all__ = ["RatioEstimate", "ratio_estimate"]


class RatioEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """``numerator`` over ``denominator``, with a 95% interval; its ends are None where the clusters can't tell."""

    value: float
    low: float | None
    high: float | None
    numerator: float
    denominator: float
    n_clusters: int


def ratio_estimate(
    numerators: Sequence[float], denominators: Sequence[float], clusters: Sequence[Hashable]
) -> RatioEstimate | None:
    """Ratio estimator with linearised cluster-robust variance (Cochran, Sampling Techniques, section 6.3, with the
    G/(G−1) correction and Student's t of G − 1 degrees of freedom). None where the denominators add up to nothing.
    """
    total, base = math.fsum(numerators), math.fsum(denominators)
    if not base:
        return None
    value = total / base
    residuals: dict[Hashable, float] = {}
    for numerator, denominator, cluster in zip(numerators, denominators, clusters, strict=True):
        residuals[cluster] = residuals.get(cluster, 0.0) + numerator - value * denominator
    n = len(residuals)
    low = high = None
    if n > 1:
        from scipy import stats  # noqa: PLC0415 - slow to import, needed here alone

        variance = n / (n - 1) * math.fsum(r * r for r in residuals.values()) / base**2
        half = float(stats.t.ppf(0.975, n - 1)) * math.sqrt(variance)
        low, high = max(0.0, value - half), value + half
    return RatioEstimate(value=value, low=low, high=high, numerator=total, denominator=base, n_clusters=n)
