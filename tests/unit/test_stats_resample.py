"""The bootstrap against scipy's, its two ways of drawing against each other, and its seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from proctor.stats import CannotTell, Clusters
from proctor.stats import resample as module
from proctor.stats.resample import bootstrap, bootstrap_means


def some(n: int = 80, sizes: int = 1, seed: int = 5) -> Clusters:
    rng = np.random.default_rng(seed)
    keys = [i % n for i in range(n * sizes)]
    return Clusters.of_cells(rng.beta(2, 5, size=n * sizes), keys)


def test_intervals_agree_with_scipy() -> None:
    clusters = some()
    ours = bootstrap(clusters, resamples=20_000)
    assert not isinstance(ours, CannotTell)
    for method, interval in (("percentile", ours.percentile), ("BCa", ours.bca)):
        theirs = stats.bootstrap(
            (clusters.totals,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(3)
        )
        low, high = theirs.confidence_interval
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.05 * (high - low))
        assert ours.se == pytest.approx(theirs.standard_error, rel=0.03)


def test_drawing_by_kind_and_by_index_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    keys = rng.integers(0, 300, size=900)
    clusters = Clusters.of_cells(rng.integers(0, 2, size=900), keys.tolist())
    by_kind = bootstrap_means(clusters, resamples=8_000, seed=1)
    monkeypatch.setattr(module, "_FEW_KINDS", 0)
    by_index = bootstrap_means(clusters, resamples=8_000, seed=1)
    assert not np.array_equal(by_kind, by_index)
    assert stats.ks_2samp(by_kind, by_index).pvalue > 0.001
    assert by_index.std() == pytest.approx(by_kind.std(), rel=0.05)


def test_every_cluster_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64, 32 and 4 clusters: each cluster's share of the draws is 1 in 100."""
    monkeypatch.setattr(module, "_FEW_KINDS", 0)
    for index in (0, 63, 64, 95, 99):
        totals = np.zeros(100)
        totals[index] = 1.0
        clusters = Clusters(totals=totals, sizes=np.ones(100), squares=totals)
        assert bootstrap_means(clusters, resamples=4_000, seed=index).mean() * 100 == pytest.approx(1, abs=0.07)


def test_seeded_and_bounded() -> None:
    clusters = some(n=100)
    assert bootstrap(clusters, resamples=500, seed=4) == bootstrap(clusters, resamples=500, seed=4)
    assert bootstrap(clusters, resamples=500, seed=4) != bootstrap(clusters, resamples=500, seed=5)
    with pytest.raises(ValueError, match="resamples must be at least 1; got 0"):
        bootstrap(clusters, resamples=0)


def test_cannot_tell() -> None:
    assert isinstance(bootstrap(Clusters.of_cells([1, 0], ["a", "a"])), CannotTell)
    same = bootstrap(Clusters.of_cells([1, 1], ["a", "b"]))
    assert isinstance(same, CannotTell)
    assert same.reason == "nothing varies: every cluster has the same mean"


def test_ties_count_half_in_the_bias() -> None:
    """A symmetric statistic with many ties has no bias; counting ties as above or below would show one of
    0.1.
    """
    found = bootstrap(Clusters.of_cells([0, 1] * 50, list(range(100))), resamples=20_000)
    assert not isinstance(found, CannotTell)
    assert abs(found.bias) < 0.03
