"""Paired differences, McNemar, adjustments, pass^k and power, each against an outside value or a hand-made
case.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from proctor.stats import CannotTell, Clusters, Interval
from proctor.stats.multiple import benjamini_hochberg, holm
from proctor.stats.paired import Answer, answer, mcnemar_exact, mean_difference, p_value
from proctor.stats.passk import pass_k
from proctor.stats.power import clusters_needed, detectable_difference, power_of


def difference(values: list[float]) -> Clusters:
    return Clusters.of_cells(values, list(range(len(values))))


def test_a_difference_is_a_paired_t_test() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.random(40), rng.random(40)
    ours = mean_difference(difference((first - second).tolist()))
    want = stats.ttest_rel(first, second)
    assert p_value(ours.value or 0, float(ours.se), 40) == pytest.approx(want.pvalue, abs=1e-12)
    assert want.pvalue <= float(ours.p) <= want.pvalue + 0.06
    assert ours.value == pytest.approx((first - second).mean(), abs=1e-12)


@pytest.mark.parametrize(("flips", "half"), [(0, 0.0138), (1, 0.0219)])
def test_few_flips_never_look_certain(flips: int, half: float) -> None:
    ours = mean_difference(difference([-1.0] * flips + [0.0] * (200 - flips)))
    assert isinstance(ours.interval, Interval)
    assert ours.interval.low == pytest.approx(-half, abs=2e-4)
    assert isinstance(ours.se, CannotTell) == (flips == 0)


@pytest.mark.parametrize("change", [1.0, 0.25])
@pytest.mark.parametrize("broken", [3, 4, 5])
def test_a_handful_of_flips_is_no_proof(broken: int, change: float) -> None:
    """The sign test of 5 changes in one direction gives p = 0.0625."""
    ours = mean_difference(difference([-change] * broken + [0.0] * 100))
    assert float(ours.p) > 0.05
    assert answer(ours.interval) is Answer.CANNOT_TELL


def test_nine_flips_in_one_direction_are() -> None:
    ours = mean_difference(difference([-0.25] * 9 + [0.0] * 100))
    assert answer(ours.interval) is Answer.WORSE


def test_one_cluster_cannot_tell() -> None:
    ours = mean_difference(difference([0.5]))
    assert isinstance(ours.interval, CannotTell)
    assert answer(ours.interval) is Answer.CANNOT_TELL
    assert ours.value == 0.5


@pytest.mark.parametrize(("b", "c"), [(6, 16), (0, 5), (3, 3), (0, 0), (40, 12)])
def test_mcnemar_is_a_binomial_test(b: int, c: int) -> None:
    want = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c).p == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize(
    ("low", "high", "margin", "want"),
    [
        (0.01, 0.05, None, Answer.BETTER),
        (-0.05, -0.01, None, Answer.WORSE),
        (-0.01, 0.05, None, Answer.CANNOT_TELL),
        (0.0, 0.0, None, Answer.CANNOT_TELL),
        (-0.01, 0.05, 0.02, Answer.NOT_WORSE),
        (-0.015, -0.005, 0.02, Answer.NOT_WORSE),
        (-0.03, 0.05, 0.02, Answer.CANNOT_TELL),
        (-0.05, -0.01, 0.02, Answer.CANNOT_TELL),
        (-0.05, -0.03, 0.02, Answer.WORSE),
        (0.01, 0.05, 0.02, Answer.BETTER),
    ],
)
def test_answers(low: float, high: float, margin: float | None, want: Answer) -> None:
    assert answer(Interval(low=low, high=high, method="given"), margin) is want


def test_adjustments_agree_with_outside_values() -> None:
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p), abs=1e-12)
    assert holm(p) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9], abs=1e-12)
    assert holm([]) == benjamini_hochberg([]) == []
    with pytest.raises(ValueError, match=r"between 0 and 1; got 1\.5"):
        holm([1.5])


def test_pass_k_by_hand() -> None:
    got = pass_k([(3, 4), (1, 4), (2, 2)], 3)
    assert (got.cases, got.left_out) == (2, 1)
    assert (got.all_of_k, got.any_of_k) == pytest.approx(((1 / 4 + 0) / 2, (1 + 1 - 1 / 4) / 2))
    assert isinstance(pass_k([(1, 1)], 1).all_of_k_se, CannotTell)
    assert isinstance(pass_k([(1, 1), (1, 1)], 1).all_of_k_se, CannotTell)
    assert pass_k([(1, 1)], 2).all_of_k is None
    for runs, k, message in (([(1, 1)], 0, "k must be at least 1"), ([(2, 1)], 1, "passed must be between")):
        with pytest.raises(ValueError, match=message):
            pass_k(runs, k)


def test_power_closes_its_own_circle() -> None:
    smallest = detectable_difference(0.02)
    assert smallest == pytest.approx(0.05603, abs=1e-5)
    assert power_of(0.02, smallest) == pytest.approx(0.8, abs=1e-4)
    assert clusters_needed(0.02, 100, smallest) == 100
    assert clusters_needed(0.02, 100, smallest / 2) == 400
    assert clusters_needed(0.02, 100, 0) is None
