"""The cluster bootstrap: clusters drawn with replacement, the rate computed again, percentile and BCa
intervals.

Seeded, so that the same inputs give the same bytes. Only a cluster's total and size matter, so clusters that
agree in both are drawn together as one multinomial count; where most differ, indices are drawn. Memory is
bounded by one chunk, not by resamples × clusters. Leaves out which statistic to trust (``estimate``,
``paired``).
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from proctor.stats.cluster import CONFIDENCE, CannotTell, Clusters, FloatArray, Interval, normal_quantile, too_few

__all__ = ["DEFAULT_RESAMPLES", "DEFAULT_SEED", "Bootstrap", "bootstrap", "bootstrap_means"]

DEFAULT_RESAMPLES: Final = 10_000
DEFAULT_SEED: Final = 20_240_611

_CHUNK_COUNTS: Final = 2_000_000
_CHUNK_ROWS: Final = 256
_FEW_KINDS: Final = 64
_TIE: Final = 1e-12


class Bootstrap(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster bootstrap of a mean.

    ``se`` is the spread of the resampled means. ``bias`` (z0, ties counted half) and ``acceleration``
    (jackknife over clusters) are BCa's corrections (B. Efron 1987).
    """

    estimate: float
    se: float
    percentile: Interval
    bca: Interval
    bias: float
    acceleration: float
    resamples: int
    seed: int


def bootstrap(
    clusters: Clusters,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    confidence: float = CONFIDENCE,
) -> Bootstrap | CannotTell:
    """Percentile and BCa intervals of the rate ``sum of totals / sum of sizes``; quantiles are linear.

    "Cannot tell" with fewer than two clusters or without variation. Raises ``ValueError`` for no resamples.
    """
    if clusters.n_clusters < 2:
        return too_few(clusters.n_clusters)
    if clusters.is_constant:
        return CannotTell(reason="nothing varies: every cluster has the same mean")
    estimate = clusters.mean or 0.0
    means = bootstrap_means(clusters, resamples=resamples, seed=seed)
    tie = _TIE * max(1.0, abs(estimate))
    below = float((means < estimate - tie).mean()) + float((np.abs(means - estimate) <= tie).mean()) / 2
    half = 0.5 / resamples
    bias = normal_quantile(min(max(below, half), 1 - half))
    acceleration = _acceleration(clusters)
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    low, high = np.quantile(means, tails)
    bca = np.quantile(means, [_bca_level(bias, acceleration, p) for p in tails])
    return Bootstrap(
        estimate=estimate,
        se=float(means.std(ddof=1)) if resamples > 1 else 0.0,
        percentile=Interval(
            low=float(low), high=float(high), method="cluster bootstrap, percentile", confidence=confidence
        ),
        bca=Interval(low=float(bca[0]), high=float(bca[1]), method="cluster bootstrap, BCa", confidence=confidence),
        bias=bias,
        acceleration=acceleration,
        resamples=resamples,
        seed=seed,
    )


def bootstrap_means(clusters: Clusters, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED) -> FloatArray:
    """The rate in each resample, shape ``(resamples,)``."""
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; got {resamples}")
    rng = np.random.Generator(np.random.SFC64(seed))
    pairs = np.stack([clusters.totals, clusters.sizes], axis=1)
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)
    if len(kinds) <= max(_FEW_KINDS, clusters.n_clusters // 32):
        return _by_kinds(rng, kinds, counts, resamples)
    return _by_indices(rng, clusters, resamples)


def _by_kinds(rng: np.random.Generator, kinds: FloatArray, counts: npt.NDArray[np.intp], resamples: int) -> FloatArray:
    """Clusters of one kind are exchangeable: draw how many of each kind come up."""
    n = int(counts.sum())
    means = np.empty(resamples)
    step = max(1, _CHUNK_COUNTS // len(kinds))
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        drawn = rng.multinomial(n, counts / n, size=stop - start).astype(np.float64)
        sums = drawn @ kinds
        means[start:stop] = sums[:, 0] / sums[:, 1]
    return means


def _by_indices(rng: np.random.Generator, clusters: Clusters, resamples: int) -> FloatArray:
    """Draw clusters one by one: how many fall into each block of 2^k clusters, then k random bits for each.

    Uniform on all clusters, exactly: the blocks are cut at the binary digits of their number (at most 2^16
    each).
    """
    n = clusters.n_clusters
    equal = bool((clusters.sizes == clusters.sizes[0]).all())
    values = clusters.totals if equal else clusters.totals + 1j * clusters.sizes
    blocks = _blocks(n)
    shares = np.array([size for _, size in blocks]) / n
    means = np.empty(resamples)
    for start in range(0, resamples, _CHUNK_ROWS):
        stop = min(resamples, start + _CHUNK_ROWS)
        draws = rng.multinomial(n, shares, size=stop - start)
        for row in range(stop - start):
            total = 0.0 + 0.0j
            for (offset, size), m in zip(blocks, draws[row], strict=True):
                if m:
                    index = _bits(rng, int(m), size - 1)
                    total += values[offset : offset + size].take(index).sum()
            means[start + row] = total.real / (n * clusters.sizes[0] if equal else total.imag)
    return means


def _blocks(n: int) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    offset = 0
    while offset < n:
        size = min(1 << 15, 1 << ((n - offset).bit_length() - 1))
        blocks.append((offset, size))
        offset += size
    return blocks


def _bits(rng: np.random.Generator, m: int, mask: int) -> npt.NDArray[np.intp]:
    """``m`` uniform integers from 0 to ``mask``, which is 2^k − 1 with k ≤ 16."""
    raw: npt.NDArray[np.uint64] = rng.bit_generator.random_raw((m + 3) // 4)
    words = raw.astype("<u8", copy=False).view("<u2")[:m]
    return np.asarray(words & mask, dtype=np.intp)


def _acceleration(clusters: Clusters) -> float:
    """Skewness of the estimate, from leaving out one cluster at a time."""
    left = (clusters.totals.sum() - clusters.totals) / (clusters.sizes.sum() - clusters.sizes)
    u = left.mean() - left
    spread = float((u * u).sum())
    return float((u**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _bca_level(bias: float, acceleration: float, p: float) -> float:
    from scipy import special  # noqa: PLC0415 - heavy, only needed here

    z = bias + normal_quantile(p)
    return float(special.ndtr(bias + z / (1 - acceleration * z)))
