"""Before a run: gates nobody can pass, gates none can fail, and a good agent's chance, checked against a
formula.
"""

from __future__ import annotations

import pytest

from proctor.errors import Place
from proctor.gate import PlannedCell, chance_of_passing, check_policy, parse_policy


def plan(cases: int, runs: int) -> list[PlannedCell]:
    return [PlannedCell(case=f"c{i}", run=r, slice="all") for i in range(cases) for r in range(1, runs + 1)]


@pytest.mark.parametrize(
    ("table", "problem", "detail"),
    [
        ({"overall": {"lower_bound": 0.99}}, "nobody can pass", "with all 9 passed, the figure is 0.4385"),
        ({"slice": {"none": {"rate": 0.5}}}, "nobody can pass", "the plan has no cell of this slice"),
        ({"case": {"passes": 8, "of": 10}}, "nobody can pass", "3 cases are not planned for 10 runs"),
        ({"overall": {"rate": 0}}, "none can fail", "holds with every cell failed"),
        ({"metric": {"m": {"rate": 0}}}, "none can fail", "any value is at least 0"),
    ],
)
def test_rules_that_say_nothing_are_found(table: dict, problem: str, detail: str) -> None:
    (finding,) = check_policy(parse_policy(table, Place()), plan(3, 3))
    assert finding.problem == problem
    assert detail in finding.detail


def test_a_sound_gate_has_no_finding() -> None:
    policy = parse_policy({"zero": ["x"], "overall": {"lower_bound": 0.3}, "slice": {"*": {"rate": 0.9}}}, Place())
    assert check_policy(policy, plan(3, 3)) == []
    assert check_policy(policy, [])[0].detail == "the plan has no cell"


def test_the_chance_agrees_with_the_formula_where_there_is_one() -> None:
    policy = parse_policy({"every_case": {"every_run": True}}, Place())
    chance = chance_of_passing(policy, plan(12, 3), true_rate=0.98)
    assert chance.error is not None
    assert abs(chance.chance - 0.98**36) < 4 * chance.error
    assert chance.hardest == "every_case.every_run"
    assert chance == chance_of_passing(policy, plan(12, 3), true_rate=0.98)
    assert chance_of_passing(policy, plan(12, 3), true_rate=1.0).chance == 1
    assert chance_of_passing(policy, [], true_rate=1.0).chance == 0
    zero = parse_policy({"zero": ["missing"]}, Place())
    assert chance_of_passing(zero, [], true_rate=1.0).chance == 0
    assert chance_of_passing(zero, plan(1, 1), true_rate=0.5).chance == 1
    with pytest.raises(ValueError, match="true_rate must be between 0 and 1"):
        chance_of_passing(policy, plan(1, 1), true_rate=98)
