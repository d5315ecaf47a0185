"""Whatever the rows: their order and how they are split change nothing; taking rows away never helps."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.comparison import ScoredGrid, compare_grids
from proctor.comparison.columns import Columns
from proctor.comparison.load import load_grid
from proctor.comparison.text import render
from proctor.errors import Place
from proctor.gate import CellResult, PlannedCell, decide, parse_policy
from proctor.kinds import Outcome

KEYS = [(f"c{i}", run) for i in range(6) for run in (1, 2, 3)]
END = st.sampled_from(["1", "0", "infra_error", ""])


def grid(name: str, rows: list[dict[str, Any]]) -> ScoredGrid:
    return load_grid(rows, Columns(case="case", run="run", passed="passed", status="status"), name=name).grid


def rows(ends: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "case": case,
            "run": run,
            "passed": end if end in "10" else None,
            "status": end if end == "infra_error" else None,
            "slice": f"s{int(case[1]) % 2}",
            "tokens": 100 + run,
        }
        for (case, run), end in zip(KEYS, ends, strict=True)
    ]


ENDS = st.lists(END, min_size=len(KEYS), max_size=len(KEYS))


@settings(max_examples=60, deadline=None)
@given(old=ENDS, new=ENDS, data=st.data())
def test_the_order_of_rows_changes_no_byte(old: list[str], new: list[str], data: st.DataObject) -> None:
    first, second = rows(old), rows(new)
    one = compare_grids(grid("old", first), grid("new", second))
    other = compare_grids(
        grid("old", data.draw(st.permutations(first))), grid("new", data.draw(st.permutations(second)))
    )
    assert one.to_dict() == other.to_dict()
    assert render(one) == render(other)
    assert all(len(line) <= 80 for line in render(one).splitlines())


@settings(max_examples=60, deadline=None)
@given(old=ENDS, new=ENDS, drop=st.sets(st.integers(0, len(KEYS) - 1)))
def test_deleting_rows_of_the_candidate_never_raises_its_score(old: list[str], new: list[str], drop: set[int]) -> None:
    full = compare_grids(grid("old", rows(old)), grid("new", rows(new)))
    kept = [row for i, row in enumerate(rows(new)) if i not in drop]
    less = compare_grids(grid("old", rows(old)), grid("new", kept))
    assert less.planned == full.planned
    assert (less.candidate.low.rate or 0) <= (full.candidate.low.rate or 0)
    assert (less.candidate.high.rate or 0) <= (full.candidate.high.rate or 0)
    assert (less.difference_best.value or 0) <= (full.difference_best.value or 0)


@settings(max_examples=60, deadline=None)
@given(ends=st.lists(st.sampled_from(list(Outcome)), min_size=len(KEYS), max_size=len(KEYS)), data=st.data())
def test_the_gate_neither_sees_order_nor_rewards_loss(ends: list[Outcome], data: st.DataObject) -> None:
    planned = [PlannedCell(case=c, run=r, slice=f"s{int(c[1]) % 2}") for c, r in KEYS]
    table = {"overall": {"rate": 0.5, "lower_bound": 0.2}, "slice": {"*": {"rate": 0.4}}, "infra_cap": 1}
    policy = parse_policy(table, Place("gate.toml"))
    cells = [CellResult(case=c, run=r, outcome=end) for (c, r), end in zip(KEYS, ends, strict=True)]
    one = decide(policy, cells, planned=planned)
    assert one == decide(policy, data.draw(st.permutations(cells)), planned=planned)
    less = decide(policy, cells[: data.draw(st.integers(0, len(cells)))], planned=planned)
    assert (less.rate_low or 0) <= (one.rate_low or 0)
    assert (less.rate_high or 0) <= (one.rate_high or 0)
