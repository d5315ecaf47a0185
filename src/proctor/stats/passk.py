"""Reliability over k tries: pass^k (all of k pass) and pass@k (any of k passes), unbiased from n runs a case.

pass@k as in M. Chen et al. 2021 (1 − C(n−c, k)/C(n, k)); pass^k as in S. Yao et al. 2024 (C(c, k)/C(n, k)).
Missing cells must come in as failed. Leaves out cases with fewer than k runs, and says how many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from proctor.stats.cluster import CannotTell, too_few

__all__ = ["Reliability", "pass_k", "pass_k_of_counts"]


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """pass^k and pass@k as means over ``cases``; ``left_out`` cases have fewer than ``k`` runs.

    Standard errors are those of a mean over independent cases: cases that share a group need the cluster
    bootstrap.
    """

    k: int
    cases: int
    left_out: int
    all_of_k: float | None
    all_of_k_se: float | CannotTell
    any_of_k: float | None
    any_of_k_se: float | CannotTell


def pass_k(runs: Sequence[tuple[int, int]], k: int) -> Reliability:
    """Both figures from ``(passed, runs)`` of each case. Raises ``ValueError`` for k < 1 or passed > runs."""
    if k < 1:
        raise ValueError(f"k must be at least 1; got {k}")
    for passed, n in runs:
        if not 0 <= passed <= n:
            raise ValueError(f"passed must be between 0 and runs; got {passed} of {n}")
    used = sorted((passed, n) for passed, n in runs if n >= k)
    every = [math.comb(passed, k) / math.comb(n, k) for passed, n in used]
    some = [1 - math.comb(n - passed, k) / math.comb(n, k) for passed, n in used]
    return Reliability(
        k=k,
        cases=len(used),
        left_out=len(runs) - len(used),
        all_of_k=math.fsum(every) / len(every) if every else None,
        all_of_k_se=_standard_error(every),
        any_of_k=math.fsum(some) / len(some) if some else None,
        any_of_k_se=_standard_error(some),
    )


def pass_k_of_counts(counts: Mapping[int, int], n: int, k: int) -> Reliability:
    """The same figures where every case has ``n`` runs: ``counts`` says how many cases passed how many of them."""
    cases = sum(counts.values()) if n >= k else 0
    every = {passed: math.comb(passed, k) / math.comb(n, k) for passed in counts} if cases else {}
    some = {passed: 1 - math.comb(n - passed, k) / math.comb(n, k) for passed in counts} if cases else {}
    return Reliability(
        k=k,
        cases=cases,
        left_out=0 if cases else sum(counts.values()),
        all_of_k=_weighted_mean(every, counts, cases),
        all_of_k_se=_weighted_error(every, counts, cases),
        any_of_k=_weighted_mean(some, counts, cases),
        any_of_k_se=_weighted_error(some, counts, cases),
    )


def _weighted_mean(values: Mapping[int, float], counts: Mapping[int, int], cases: int) -> float | None:
    return math.fsum(value * counts[passed] for passed, value in values.items()) / cases if cases else None


def _weighted_error(values: Mapping[int, float], counts: Mapping[int, int], cases: int) -> float | CannotTell:
    if cases < 2:
        return too_few(cases, "case")
    if len({value for passed, value in values.items() if counts[passed]}) < 2:
        return CannotTell(reason="nothing varies: every case has the same figure")
    mean = _weighted_mean(values, counts, cases) or 0.0
    square = math.fsum((value - mean) ** 2 * counts[passed] for passed, value in values.items())
    return math.sqrt(square / (cases - 1) / cases)


def _standard_error(values: Sequence[float]) -> float | CannotTell:
    n = len(values)
    if n < 2:
        return too_few(n, "case")
    mean = math.fsum(values) / n
    square = math.fsum((value - mean) ** 2 for value in values)
    if square == 0 or max(values) == min(values):
        return CannotTell(reason="nothing varies: every case has the same figure")
    return math.sqrt(square / (n - 1) / n)
