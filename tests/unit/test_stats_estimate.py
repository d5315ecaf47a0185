"""Rates and their errors, held against scipy and hand-made cases; "cannot tell" instead of an error of 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from proctor.stats import CannotTell, Clusters, Interval, rate_estimate, wilson
from proctor.stats.cluster import cluster_interval, cluster_se, effective_n, icc


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (95, 100), (1, 2)])
def test_wilson_agrees_with_scipy(k: int, n: int) -> None:
    ours = wilson(k, n)
    theirs = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert isinstance(ours, Interval)
    assert ours.low == pytest.approx(theirs.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.high, abs=1e-12)


def test_wilson_refuses_what_is_no_count_and_cannot_tell_from_one() -> None:
    assert isinstance(wilson(1, 1), CannotTell)
    with pytest.raises(ValueError, match="passed must be between 0 and cells"):
        wilson(3, 2)


def test_equal_clusters_give_the_error_of_their_means() -> None:
    values = np.random.default_rng(1).integers(0, 2, size=(30, 4)).astype(float)
    clusters = Clusters.of_cells(values.ravel(), [i // 4 for i in range(120)])
    se = cluster_se(clusters.totals, clusters.sizes)
    assert float(se) == pytest.approx(stats.sem(values.mean(axis=1)), abs=1e-12)
    ours = cluster_interval(clusters)
    theirs = stats.t.interval(0.95, 29, loc=values.mean(), scale=stats.sem(values.mean(axis=1)))
    assert isinstance(ours, Interval)
    assert (ours.low, ours.high) == pytest.approx(theirs, abs=1e-12)


def test_the_order_of_cells_changes_no_bit() -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 2, size=300).astype(float)
    keys = rng.integers(0, 70, size=300)
    first = rate_estimate(Clusters.of_cells(values, keys.tolist()))
    order = rng.permutation(300)
    assert rate_estimate(Clusters.of_cells(values[order], keys[order].tolist())) == first


@pytest.mark.parametrize(("value", "low", "high"), [(1.0, 0.7225, 1.0), (0.0, 0.0, 0.2775)])
def test_no_variation_has_no_error_but_a_bound(value: float, low: float, high: float) -> None:
    estimate = rate_estimate(Clusters.of_cells([value] * 30, [i // 3 for i in range(30)]))
    assert isinstance(estimate.se, CannotTell)
    assert isinstance(estimate.interval, Interval)
    assert estimate.interval.method == "Wilson, each cluster counted once"
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((low, high), abs=1e-4)


def test_one_cluster_or_none_cannot_tell() -> None:
    for values, keys in (([1.0, 0.0], ["a", "a"]), ([], [])):
        estimate = rate_estimate(Clusters.of_cells(values, keys))
        assert isinstance(estimate.interval, CannotTell)
        assert isinstance(estimate.se, CannotTell)
        assert isinstance(estimate.likeness, CannotTell)
    assert rate_estimate(Clusters.of_cells([], [])).rate is None
    half = rate_estimate(Clusters.of_cells([1.0, 0.0, 1.0, 0.0], list("aabb")))
    assert isinstance(half.interval, CannotTell)


def test_one_more_failure_never_raises_a_nearly_perfect_lower_bound() -> None:
    keys = [i // 4 for i in range(240)]
    lows = []
    for failures in range(12):
        values = [0.0 if i < failures else 1.0 for i in range(240)]
        interval = rate_estimate(Clusters.of_cells(values, keys)).interval
        assert isinstance(interval, Interval)
        lows.append(interval.low)
    assert lows == sorted(lows, reverse=True)


def test_single_runs_use_wilson_and_groups_widen() -> None:
    values = [1.0] * 8 + [0.0] * 2
    alone = rate_estimate(Clusters.of_cells(values, list(range(10))))
    assert alone.interval == wilson(8, 10)
    grouped = rate_estimate(Clusters.of_cells(values, [i // 2 for i in range(10)]))
    assert isinstance(grouped.interval, Interval)
    assert isinstance(alone.interval, Interval)
    assert grouped.interval.low < alone.interval.low


def test_likeness_of_copies_is_one_and_costs_the_cluster_size() -> None:
    clusters = Clusters.of_cells([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0], list("aaabbbcccddd"))
    likeness = icc(clusters)
    assert not isinstance(likeness, CannotTell)
    assert likeness.value == pytest.approx(1)
    assert likeness.design_effect == pytest.approx(3)
    assert effective_n(clusters) == pytest.approx(4)
    assert isinstance(icc(Clusters.of_cells([1, 0, 1], list("abc"))), CannotTell)
    assert isinstance(icc(Clusters.of_cells([1, 1, 1, 1], list("aabb"))), CannotTell)


def test_values_and_keys_must_match() -> None:
    with pytest.raises(ValueError, match="one value a key"):
        Clusters.of_cells([1.0], [])
    assert math.isclose(Clusters.of_cells([1, 0], ["a", "b"]).mean or 0, 0.5)
