"""Comparing grids: pairing, denominators, verdicts with their exit codes, margins, refusals and costs."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.comparison import Identity, Method, ScoredCell, ScoredGrid, compare_grids
from proctor.comparison.model import PlanRules
from proctor.errors import InputError, UsageError
from proctor.gate import PlannedCell
from proctor.stats import CannotTell


def grid(name: str, values: dict[str, list[Any]], **fields: Any) -> ScoredGrid:
    """Case → one value a run; None leaves the cell out, "infra" and "unknown" have no known end."""
    cells = []
    for case, runs in values.items():
        for run, value in enumerate(runs, start=1):
            if value is None:
                continue
            cells.append(
                ScoredCell(
                    case=case,
                    run=run,
                    value=None if value in ("infra", "unknown") else float(value),
                    unresolved=value == "infra",
                )
            )
    return ScoredGrid(name=name, cells=tuple(cells), **fields)


def wide(n: int, passes: int, runs: int = 1) -> dict[str, list[Any]]:
    return {f"c{i:03}": [int(i < passes)] * runs for i in range(n)}


@pytest.mark.parametrize(
    ("before", "after", "margin", "verdict", "code"),
    [
        (60, 90, None, "better", 0),
        (90, 60, None, "worse", 1),
        (90, 89, None, "can't tell", 3),
        (90, 90, 0.05, "not worse", 0),
        (90, 60, 0.05, "worse", 1),
        (90, 87, 0.02, "can't tell", 3),
        (60, 90, 0.02, "better", 0),
    ],
)
def test_verdicts_and_exit_codes(before: int, after: int, margin: float | None, verdict: str, code: int) -> None:
    found = compare_grids(grid("old", wide(100, before)), grid("new", wide(100, after)), margin=margin)
    assert (found.verdict, found.exit_code) == (verdict, code)
    assert found.difference.value == pytest.approx((after - before) / 100)
    assert found.mcnemar is not None
    assert (found.flips.fixed, found.flips.broken) == (max(0, after - before), max(0, before - after))


def test_an_unpaired_cell_counts_against_who_lacks_it() -> None:
    old = grid("old", {"a": [1, 1], "b": [1, 1], "c": [0, 0]})
    new = grid("new", {"a": [1, None], "b": [None, None], "c": [0, 0], "d": [1, 1]})
    found = compare_grids(old, new)
    assert found.planned == 8
    assert (found.baseline.low.passed, found.baseline.missing) == (4, 2)
    assert (found.candidate.low.passed, found.candidate.missing) == (3, 3)
    assert "only old has 3 cells, only new has 2; each counts as failed for the other" in found.notes


def test_a_plan_fixes_the_denominator_and_refuses_what_was_not_planned() -> None:
    cells = tuple(PlannedCell(case=c, run=r, slice=s, group="g") for c, s in (("a", "x"), ("b", "y")) for r in (1, 2))
    plan = PlanRules(cells=cells, digest="sha256:1", name="plan.json")
    found = compare_grids(grid("old", {"a": [1]}), grid("new", {"a": [1, 1]}), plan=plan)
    assert (found.planned, found.clusters, found.grouped) == (4, 1, True)
    assert [item.slice for item in found.slices] == ["y", "x"]
    assert isinstance(found.interval, CannotTell)
    assert found.verdict == "can't tell"
    with pytest.raises(InputError, match=r"new: z/1: 1 cells that were never planned"):
        compare_grids(grid("old", {"a": [1]}), grid("new", {"z": [1]}), plan=plan)


def test_unresolved_cells_are_read_both_ways() -> None:
    old, new = wide(100, 60), wide(100, 90)
    for case in ("c000", "c001"):
        new[case] = ["infra"]
    still = compare_grids(grid("old", old), grid("new", new))
    assert still.verdict == "better"
    assert (still.difference.value, still.difference_best.value) == (pytest.approx(0.28), pytest.approx(0.3))
    new = {**wide(100, 66), **{f"c{i:03}": ["infra"] for i in range(60, 65)}}
    tipped = compare_grids(grid("old", old), grid("new", new))
    assert (tipped.verdict, tipped.exit_code) == ("can't tell", 3)
    assert "cells without a known end could tip the answer" in tipped.notes[0]
    lost = compare_grids(grid("old", {**wide(100, 60), "c099": ["infra"]}), grid("new", wide(100, 90)))
    assert (lost.difference.value, lost.difference_best.value) == (pytest.approx(0.29), pytest.approx(0.3))
    new["c099"] = ["infra"]
    over = compare_grids(grid("old", old), grid("new", new))
    assert (over.verdict, over.exit_code) == ("invalid", 2)
    assert over.notes[0].startswith("new: 6 of 100 cells ended in infrastructure or grader errors, above the cap")


def test_a_score_without_a_record_of_its_end_shows_the_range() -> None:
    new = {**wide(100, 90), **{f"c{i:03}": ["unknown"] for i in range(90, 100)}}
    found = compare_grids(grid("old", wide(100, 60)), grid("new", new))
    assert (found.candidate.low.rate, found.candidate.high.rate) == (0.9, 1.0)
    assert (found.candidate.unknown, found.candidate.unresolved) == (10, 0)
    assert found.verdict == "better"
    assert "10 cells have no record of how they ended: figures are ranges" in found.notes


def test_margins_are_stamped_unless_a_registered_plan_declares_them() -> None:
    old, new = wide(100, 90), wide(100, 90)
    late = compare_grids(grid("old", old), grid("new", new), margin=0.05)
    assert late.stamps == ("RULE CHOSEN AFTER THE RESULTS: the margin stands in no registered plan",)
    assert not late.margin_registered
    known = grid("new", new, margin=0.05)
    assert compare_grids(grid("old", old), known).margin_registered
    assert compare_grids(grid("old", old), known, margin=0.05).stamps == ()
    assert compare_grids(grid("old", old), known, margin=0.1).stamps == late.stamps
    cells = tuple(PlannedCell(case=c, run=1) for c in old)
    plan = PlanRules(cells=cells, digest="sha256:1", name="p.json", margin=0.05)
    unseen = compare_grids(grid("old", old), grid("new", new), plan=plan)
    assert unseen.stamps == (
        "RULE NOT REGISTERED: the margin is from p.json; nobody witnessed that it came before the results",
    )
    seen = grid("new", new, identity=Identity(plan="sha256:1"))
    assert compare_grids(grid("old", old), seen, plan=plan).margin_registered
    with pytest.raises(UsageError, match="no margin; expected more than 0, less than 1"):
        compare_grids(grid("old", old), grid("new", new), margin=2)


@pytest.mark.parametrize("field", ["dataset", "grader", "rules", "cells"])
def test_incomparable_inputs_are_refused_or_stamped(field: str) -> None:
    old = grid("old", wide(10, 5), identity=Identity(**{field: "one"}))
    new = grid("new", wide(10, 5), identity=Identity(**{field: "two"}))
    with pytest.raises(InputError, match=r"these two can't be compared: they differ in .*: one and two") as caught:
        compare_grids(old, new)
    assert "--allow-incomparable" in caught.value.message
    allowed = compare_grids(old, new, method=Method(allow_incomparable=True))
    assert allowed.stamps[0].startswith("INCOMPARABLE INPUTS ALLOWED: they differ in ")
    assert compare_grids(old, grid("new", wide(10, 5))).stamps == ()


def priced(name: str, passes: int, cost: float | None, **fields: Any) -> ScoredGrid:
    cells = tuple(
        ScoredCell(case=f"c{i:03}", run=1, value=float(i < passes), tokens=None if cost is None else cost + i % 3)
        for i in range(100)
    )
    return ScoredGrid(name=name, cells=cells, **fields)


def test_costs_are_compared_only_between_candidates_that_pass() -> None:
    found = compare_grids(priced("old", 90, 100), priced("new", 90, 50), margin=0.05)
    assert [(c.what, c.cells, round(c.before), round(c.after)) for c in found.costs] == [("tokens", 100, 101, 51)]
    assert found.costs[0].per_pass_after == pytest.approx(50.99 * 100 / 90, abs=0.01)
    worse = compare_grids(priced("old", 90, 100), priced("new", 40, 50))
    assert (worse.costs, worse.costs_note) == ((), "not compared: the candidate isn't shown to be as good")
    blocked = compare_grids(priced("old", 90, 100, gate="PASS"), priced("new", 90, 50, gate="BLOCK"), margin=0.05)
    assert blocked.costs_note == "not compared: new did not pass its gate"
    assert compare_grids(priced("old", 90, None), priced("new", 90, 50)).costs_note == "no cell has a cost in both"


def test_bootstrap_intervals_are_seeded_and_named() -> None:
    old, new = grid("old", wide(100, 60)), grid("new", wide(100, 75))
    found = compare_grids(old, new, method=Method(interval="bca", seed=5, resamples=2_000))
    assert (found.seed, found.resamples) == (5, 2_000)
    assert not isinstance(found.interval, CannotTell)
    assert found.interval.method == "cluster bootstrap, BCa"
    assert found == compare_grids(old, new, method=Method(interval="bca", seed=5, resamples=2_000))
    assert compare_grids(old, new).seed is None


def test_slices_are_adjusted_worst_first() -> None:
    def sliced(name: str, good: set[int]) -> ScoredGrid:
        cells = tuple(
            ScoredCell(case=f"c{i:03}", run=1, value=float(i in good), slice="even" if i % 2 == 0 else "odd")
            for i in range(100)
        )
        return ScoredGrid(name=name, cells=cells)

    found = compare_grids(sliced("old", set(range(80))), sliced("new", set(range(0, 80, 2))))
    assert [(s.slice, s.difference.value) for s in found.slices] == [("odd", -0.8), ("even", 0.0)]
    assert found.worst_slice == "odd"
    assert found.slices[0].adjusted_p is not None
    assert found.slices[1].adjusted_p is None


def test_outlook_says_what_would_settle_it() -> None:
    found = compare_grids(grid("old", wide(100, 90)), grid("new", wide(100, 88)), margin=0.01)
    assert found.verdict == "can't tell"
    assert found.outlook.question == "whether it is worse by more than 0.01"
    assert found.outlook.needed is not None
    assert found.outlook.needed > 100
    equal = compare_grids(grid("old", wide(100, 90)), grid("new", wide(100, 90)))
    assert equal.outlook.needed is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ({"a": [1]}, {"b": [1]}, "the two have no case in common"),
        ({}, {}, "no cell to compare"),
    ],
)
def test_what_can_not_be_lined_up_is_refused(old: dict[str, Any], new: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_grids(grid("old", old), grid("new", new))


def test_one_case_in_two_slices_or_twice_is_refused() -> None:
    def one(name: str, where: str) -> ScoredGrid:
        return ScoredGrid(name=name, cells=(ScoredCell(case="a", run=1, value=1.0, slice=where),))

    with pytest.raises(InputError, match="new: a: a case in two slices; expected the slice 'x', as elsewhere; found y"):
        compare_grids(one("old", "x"), one("new", "y"))
    twice = ScoredGrid(name="old", cells=(ScoredCell(case="a", run=1, value=1.0),) * 2)
    with pytest.raises(InputError, match="old: a/1: a case and run twice"):
        compare_grids(twice, twice)
