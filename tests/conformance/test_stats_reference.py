"""Known answers made with numpy, scipy and statsmodels: deterministic figures to 1e-9, bootstrap ends within
spread.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from proctor.stats import CannotTell, Clusters, Interval, wilson
from proctor.stats.cluster import cluster_interval, cluster_se, effective_n, icc
from proctor.stats.multiple import benjamini_hochberg, holm
from proctor.stats.paired import mcnemar_exact, mean_difference, p_value
from proctor.stats.passk import pass_k
from proctor.stats.power import detectable_difference
from proctor.stats.resample import bootstrap

Cells = dict[str, dict[str, float]]

CLOSE = {"abs": 1e-9, "rel": 1e-9}


@pytest.fixture(scope="module")
def reference(conformance: Path) -> dict[str, Any]:
    return json.loads((conformance / "statistics" / "reference.json").read_text())


def load(conformance: Path, entry: dict[str, Any], agent: str) -> tuple[Cells, dict[str, str]]:
    """Case → run → score, by the entry's policy for missing cells."""
    cells: Cells = defaultdict(dict)
    slices = {}
    path = conformance / "statistics" / Path(entry["file"]).name
    for row in csv.DictReader(path.read_text().splitlines()):
        if row["agent"] != agent:
            continue
        slices[row["case_id"]] = row.get("slice") or ""
        if row["status"] == "missing":
            if entry["missing_policy"] == "fail":
                cells[row["case_id"]][row["run"]] = 0.0
        else:
            cells[row["case_id"]][row["run"]] = float(row["score"])
    return cells, slices


def flat(cells: Cells) -> Clusters:
    values = [score for runs in cells.values() for score in runs.values()]
    return Clusters.of_cells(values, [case for case, runs in cells.items() for _ in runs])


SINGLE = [
    "tau_airline",
    "synthetic/baseline/fail",
    "synthetic/candidate/fail",
    "synthetic/baseline/drop",
    "synthetic/candidate/drop",
]


@pytest.mark.parametrize("name", SINGLE)
def test_one_score(conformance: Path, reference: dict[str, Any], name: str) -> None:
    want = reference["single"][name]
    cells, _ = load(conformance, want["input"], want["input"]["agent"])
    clusters = flat(cells)
    assert (clusters.n_cells, clusters.n_clusters) == (want["n_cells"], want["n_cases"])
    assert clusters.mean == pytest.approx(want["mean_cells"], **CLOSE)
    naive = wilson(float(clusters.totals.sum()), clusters.n_cells)
    assert ends(naive) == pytest.approx(want["wilson_cells"], **CLOSE)
    by_case = want["cluster_by_case"]
    for key, small in (("CR0", False), ("CR1", True), ("statsmodels_CR0", False), ("statsmodels_CR1", True)):
        se = float(cluster_se(clusters.totals, clusters.sizes, small_sample=small))
        assert se == pytest.approx(by_case[key], **CLOSE)
    assert ends(cluster_interval(clusters)) == pytest.approx(by_case["ci95_t_CR1"], **CLOSE)
    assert ends(cluster_interval(clusters, use_t=False)) == pytest.approx(by_case["ci95_z_CR1"], **CLOSE)
    likeness = icc(clusters)
    assert not isinstance(likeness, CannotTell)
    got = (likeness.between, likeness.within, likeness.n0, likeness.value, likeness.design_effect)
    keys = ("MSB", "MSW", "n0", "icc", "deff_from_icc")
    assert got == pytest.approx(tuple(want["icc"][key] for key in keys), **CLOSE)
    n = effective_n(clusters)
    assert n == pytest.approx(want["wilson_effective_n"]["n_eff"], **CLOSE)
    assert not isinstance(n, CannotTell)
    assert clusters.n_cells / n == pytest.approx(want["design_effect_CR0_over_binomial"], **CLOSE)
    assert ends(wilson((clusters.mean or 0) * n, n)) == pytest.approx(want["wilson_effective_n"]["ci"], **CLOSE)


@pytest.mark.parametrize("name", SINGLE)
def test_reliability(conformance: Path, reference: dict[str, Any], name: str) -> None:
    want = reference["single"][name]
    cells, _ = load(conformance, want["input"], want["input"]["agent"])
    runs = [(int(sum(r.values())), len(r)) for r in cells.values()]
    for k, figures in want["pass_k"]["k"].items():
        got = pass_k(runs, int(k))
        assert (got.cases, got.left_out) == (figures["cases_used"], figures["cases_excluded_too_few_runs"])
        assert (got.all_of_k, got.all_of_k_se, got.any_of_k, got.any_of_k_se) == pytest.approx(
            tuple(figures[key] for key in ("pass_hat_k", "pass_hat_k_se", "pass_at_k", "pass_at_k_se")), **CLOSE
        )


@pytest.mark.parametrize("name", SINGLE)
def test_bootstrap_of_one_score(conformance: Path, reference: dict[str, Any], name: str) -> None:
    want = reference["single"][name]
    cells, _ = load(conformance, want["input"], want["input"]["agent"])
    check_bootstrap(flat(cells), want["cluster_bootstrap"])


PAIRED = ["synthetic/candidate-baseline/fail", "synthetic/candidate-baseline/drop"]


def pair(conformance: Path, want: dict[str, Any]) -> tuple[dict[str, float], dict[str, str], Cells, Cells]:
    first, slices = load(conformance, want["input"], want["input"]["agent_a"])
    second, _ = load(conformance, want["input"], want["input"]["agent_b"])
    differences = {
        case: sum(first[case].values()) / len(first[case]) - sum(second[case].values()) / len(second[case])
        for case in first
        if case in second
    }
    return differences, slices, first, second


@pytest.mark.parametrize("name", PAIRED)
def test_two_candidates(conformance: Path, reference: dict[str, Any], name: str) -> None:
    want = reference["paired"][name]
    by_case, _, first, second = pair(conformance, want)
    clusters = Clusters.of_cells(list(by_case.values()), list(by_case))
    got = mean_difference(clusters)
    assert not isinstance(got.se, CannotTell)
    assert got.value == pytest.approx(want["difference"], **CLOSE)
    assert got.se == pytest.approx(want["se_paired_CR1"], **CLOSE)
    assert p_value(got.value or 0, got.se, got.clusters) == pytest.approx(want["p_t"], **CLOSE)
    assert ends(cluster_interval(clusters)) == pytest.approx(want["ci95_t"], **CLOSE)
    assert ends(cluster_interval(clusters, use_t=False)) == pytest.approx(want["ci95_z"], **CLOSE)
    assert ends(got.interval)[0] <= want["ci95_t"][0] + 1e-12
    assert detectable_difference(got.se) == pytest.approx(want["mde_80pct_power_two_sided"], **CLOSE)
    check_bootstrap(clusters, want["paired_bootstrap"])
    run = want["mcnemar_run"]["run"]
    both = [c for c in by_case if run in first[c] and run in second[c]]
    only_a = sum(first[c][run] > second[c][run] for c in both)
    only_b = sum(first[c][run] < second[c][run] for c in both)
    assert (only_a, only_b) == (want["mcnemar_run"]["a_only"], want["mcnemar_run"]["b_only"])
    assert mcnemar_exact(only_a, only_b).p == pytest.approx(want["mcnemar_run"]["exact_p"], **CLOSE)


@pytest.mark.parametrize("name", PAIRED)
def test_slices(conformance: Path, reference: dict[str, Any], name: str) -> None:
    want = reference["paired"][name]
    by_case, slices, _, _ = pair(conformance, want)
    items = want["slices"]["items"]
    p_values = []
    for item in items:
        here = {case: d for case, d in by_case.items() if slices[case] == item["slice"]}
        clusters = Clusters.of_cells(list(here.values()), list(here))
        se = float(cluster_se(clusters.totals, clusters.sizes))
        assert (clusters.mean, se) == pytest.approx((item["difference"], item["se"]), **CLOSE)
        p_values.append(p_value(clusters.mean or 0, se, clusters.n_clusters))
    assert p_values == pytest.approx([item["p_t"] for item in items], **CLOSE)
    assert holm(p_values) == pytest.approx([i["holm"]["adjusted_p"] for i in items], **CLOSE)
    assert benjamini_hochberg(p_values) == pytest.approx(
        [i["benjamini_hochberg"]["adjusted_p"] for i in items], **CLOSE
    )


def ends(interval: Interval | CannotTell) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def check_bootstrap(clusters: Clusters, want: dict[str, Any]) -> None:
    """Ends lie within the stored spread of 20 seeds, widened by its own width."""
    got = bootstrap(clusters)
    assert not isinstance(got, CannotTell)
    assert got.estimate == pytest.approx(want["estimate"], **CLOSE)
    assert got.acceleration == pytest.approx(want["bca_acceleration"], **CLOSE)
    spread = want["spread_20_seeds"]
    figures = {
        "percentile_lo": got.percentile.low,
        "percentile_hi": got.percentile.high,
        "bca_lo": got.bca.low,
        "bca_hi": got.bca.high,
        "boot_se": got.se,
    }
    for name, figure in figures.items():
        low, high = spread[name]
        width = high - low
        assert low - width - 1e-9 <= figure <= high + width + 1e-9, f"{name}: {figure} outside {low} to {high}"
