"""Two identical agents are seldom called better or worse; a real difference of ten points is found."""

from __future__ import annotations

import numpy as np
import pytest

from proctor.comparison import ScoredCell, ScoredGrid, compare_grids


def agent(name: str, chances: np.ndarray, runs: int, rng: np.random.Generator) -> ScoredGrid:
    passed = rng.random((len(chances), runs)) < chances[:, None]
    cells = tuple(
        ScoredCell(case=f"c{i}", run=run + 1, value=float(passed[i, run]))
        for i in range(len(chances))
        for run in range(runs)
    )
    return ScoredGrid(name=name, cells=cells)


def simulate(cases: int, runs: int, rate: float, gain: float, times: int, seed: int) -> dict[str, float]:
    """Shares of each verdict; cases differ in how hard they are, so that runs of one case are alike."""
    rng = np.random.default_rng(seed)
    counts: dict[str, float] = {"better": 0, "worse": 0, "can't tell": 0}
    for _ in range(times):
        chances = rng.beta(4 * rate, 4 * (1 - rate), cases)
        old = agent("old", chances, runs, rng)
        new = agent("new", np.clip(chances + gain, 0, 1), runs, rng)
        counts[compare_grids(old, new).verdict] += 1 / times
    return counts


@pytest.mark.parametrize(("cases", "runs", "rate"), [(60, 3, 0.7), (40, 1, 0.9), (25, 4, 0.5)])
def test_identical_agents_are_seldom_called_better(cases: int, runs: int, rate: float) -> None:
    found = simulate(cases, runs, rate, 0.0, times=200, seed=11)
    assert found["better"] <= 0.05
    assert found["worse"] <= 0.05


def test_ten_points_on_200_cases_of_4_runs_are_found() -> None:
    rng = np.random.default_rng(12)
    found = 0
    for _ in range(40):
        chances = rng.beta(2.8, 1.2, 200) * 0.9
        old, new = agent("old", chances, 4, rng), agent("new", chances + 0.1, 4, rng)
        found += compare_grids(old, new).verdict == "better"
    assert found >= 36
