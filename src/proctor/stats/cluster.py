"""The one place that defines a cluster, and what follows from cells being alike inside one.

A cluster is the independent unit: a case, or the group that several cases share. All estimates need only each
cluster's total and size, so ``Clusters`` holds just those. Leaves out resampling (``resample``) and pairs
(``paired``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

__all__ = [
    "CONFIDENCE",
    "CannotTell",
    "Clusters",
    "FloatArray",
    "Icc",
    "Interval",
    "cluster_interval",
    "cluster_se",
    "effective_n",
    "icc",
    "normal_quantile",
    "t_quantile",
    "too_few",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE: Final = 0.95
"""Two-sided coverage of every interval, unless a caller says otherwise."""

_ROUNDING: Final = 1e-12


class CannotTell(msgspec.Struct, frozen=True, kw_only=True):
    """No figure, with the reason: too few clusters, or nothing that varies. Never written as 0."""

    reason: str


def too_few(n: int, what: str = "independent case") -> CannotTell:
    """Fewer than two of something that must vary to show an error."""
    return CannotTell(reason=f"{n} {what}{'' if n == 1 else 's'}, at least 2 are needed")


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A two-sided interval, the method that made it and its coverage (0.95: 95 of 100)."""

    low: float
    high: float
    method: str
    confidence: float = CONFIDENCE


class Icc(msgspec.Struct, frozen=True, kw_only=True):
    """How alike the cells of one cluster are (1: all the same), and what that costs.

    ``design_effect`` = 1 + (n0 − 1) × ``value``: how many times wider the variance is than with as many
    independent cells. ``n0`` is the average cluster size of the unbalanced one-way analysis of variance.
    """

    value: float
    n0: float
    between: float
    within: float
    design_effect: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clusters:
    """Cluster totals and sizes (cells), both of shape ``(clusters,)``, and sums of squared values.

    They stand in an order that depends on nothing but these numbers, so that the order in which rows were
    read changes no bit of any estimate.
    """

    totals: FloatArray
    sizes: FloatArray
    squares: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.totals.shape[0])

    @property
    def n_cells(self) -> int:
        """Number of cells: the denominator of the rate."""
        return int(self.sizes.sum())

    @property
    def mean(self) -> float | None:
        """Sum of the values over the number of cells; None where there is no cell."""
        cells = float(self.sizes.sum())
        return float(self.totals.sum()) / cells if cells else None

    @property
    def is_constant(self) -> bool:
        """Whether every cluster has the same mean, so that no error can be estimated."""
        means = self.totals / self.sizes
        return bool(np.ptp(means) <= _ROUNDING) if self.n_clusters else True

    @classmethod
    def of_cells(cls, values: Any, keys: Sequence[Hashable]) -> Clusters:
        """Clusters of one value and one cluster key a cell. Raises ``ValueError`` if their numbers differ."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (len(keys),):
            raise ValueError(f"one value a key: got {array.shape} values for {len(keys)} keys")
        order: dict[Hashable, int] = {}
        codes = np.fromiter((order.setdefault(key, len(order)) for key in keys), dtype=np.intp, count=len(keys))
        return cls.of_codes(array, codes, len(order))

    @classmethod
    def of_codes(cls, values: FloatArray, codes: npt.NDArray[np.intp], n: int) -> Clusters:
        """Clusters of values whose cluster is given as a number below ``n``; clusters without cells are left
        out.
        """
        sizes = np.bincount(codes, minlength=n).astype(np.float64)
        totals = np.asarray(np.bincount(codes, weights=values, minlength=n), dtype=np.float64)
        squares = np.asarray(np.bincount(codes, weights=values * values, minlength=n), dtype=np.float64)
        order = np.lexsort((squares, totals, sizes))
        order = order[sizes[order] > 0]
        return cls(totals=totals[order], sizes=sizes[order], squares=squares[order])


def normal_quantile(p: float) -> float:
    """The standard normal quantile at ``p``."""
    return NormalDist().inv_cdf(p)


def t_quantile(p: float, df: float) -> float:
    """Student's t quantile at ``p`` with ``df`` degrees of freedom."""
    from scipy import special  # noqa: PLC0415 - heavy, only needed here

    return float(special.stdtrit(df, p))


def cluster_se(totals: FloatArray, sizes: FloatArray, *, small_sample: bool = True) -> FloatArray:
    """Cluster-robust standard error of ``sum(totals) / sum(sizes)`` along the last axis.

    CR0 is ``sqrt(Σ_c (Σ residuals of c)²) / n``; ``small_sample`` multiplies by ``sqrt(G / (G − 1))`` (CR1,
    the sandwich estimator of an intercept-only model). Shapes ``(…, clusters)`` give ``(…)``. Needs two
    clusters.
    """
    cells = sizes.sum(axis=-1, keepdims=True)
    mean = totals.sum(axis=-1, keepdims=True) / cells
    residuals = totals - mean * sizes
    se = np.sqrt(np.einsum("...i,...i->...", residuals, residuals)) / cells[..., 0]
    if small_sample:
        g = totals.shape[-1]
        se = se * math.sqrt(g / (g - 1))
    return np.asarray(se, dtype=np.float64)


def cluster_interval(
    clusters: Clusters, *, confidence: float = CONFIDENCE, use_t: bool = True
) -> Interval | CannotTell:
    """Mean ± quantile × CR1, with Student's t on G − 1 degrees of freedom (or the normal quantile).

    "Cannot tell" with fewer than two clusters or without variation. Ends aren't cut to [0, 1].
    """
    if clusters.n_clusters < 2:
        return too_few(clusters.n_clusters)
    if clusters.is_constant:
        return CannotTell(reason="nothing varies: every cluster has the same mean")
    mean = clusters.mean or 0.0
    se = float(cluster_se(clusters.totals, clusters.sizes))
    p = 0.5 + confidence / 2
    width = se * (t_quantile(p, clusters.n_clusters - 1) if use_t else normal_quantile(p))
    method = "CR1, Student's t" if use_t else "CR1, normal"
    return Interval(low=mean - width, high=mean + width, method=method, confidence=confidence)


def icc(clusters: Clusters) -> Icc | CannotTell:
    """Intraclass correlation ICC(1) of the unbalanced one-way random-effects analysis of variance.

    "Cannot tell" with fewer than two clusters, one cell a cluster, or no variation at all.
    """
    g, n = clusters.n_clusters, clusters.n_cells
    if g < 2:
        return too_few(g)
    if n == g:
        return CannotTell(reason="one cell a cluster: likeness inside a cluster can't be seen")
    mean = clusters.mean or 0.0
    means = clusters.totals / clusters.sizes
    between = float((clusters.sizes * (means - mean) ** 2).sum()) / (g - 1)
    within = float((clusters.squares - clusters.sizes * means**2).sum()) / (n - g)
    n0 = (n - float((clusters.sizes**2).sum()) / n) / (g - 1)
    spread = between + (n0 - 1) * within
    if spread <= _ROUNDING:
        return CannotTell(reason="nothing varies")
    value = (between - within) / spread
    return Icc(value=value, n0=n0, between=between, within=within, design_effect=1 + (n0 - 1) * value)


def effective_n(clusters: Clusters) -> float | CannotTell:
    """How many independent cells would give the same error: cells over (CR0² / binomial variance).

    For values 0 and 1. "Cannot tell" where nothing varies or fewer than two clusters stand.
    """
    mean = clusters.mean
    if mean is None or clusters.n_clusters < 2 or clusters.is_constant or not 0 < mean < 1:
        return CannotTell(reason="too few clusters, or nothing varies")
    robust = float(cluster_se(clusters.totals, clusters.sizes, small_sample=False)) ** 2
    return mean * (1 - mean) / robust
