"""The verdict table: each rule seen holding and broken, unresolved cells read both ways, nothing planned
never passes.
"""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import EvidenceError, Place
from proctor.gate import (
    CellResult,
    Decision,
    Held,
    PlannedCell,
    RunFacts,
    UsageFact,
    decide,
    parse_policy,
)
from proctor.kinds import Outcome, Verdict

P, F, E = Outcome.PASSED, Outcome.FAILED, Outcome.INFRA_ERROR


def plan(cases: int = 20, runs: int = 3) -> list[PlannedCell]:
    return [
        PlannedCell(case=f"c{i:02}", run=r, slice="fraud" if i % 4 == 0 else "late")
        for i in range(cases)
        for r in range(1, runs + 1)
    ]


def gate(
    table: dict[str, Any],
    special: dict[int, Any] | None = None,
    *,
    cells: list[PlannedCell] | None = None,
    facts: RunFacts | None = None,
) -> Decision:
    """All cells pass but those in ``special``: an outcome, extra fields, or None for no result."""
    planned = plan() if cells is None else cells
    results = []
    for index, cell in enumerate(planned):
        what = (special or {}).get(index, P)
        if what is None:
            continue
        fields = what if isinstance(what, dict) else {"outcome": what}
        results.append(CellResult(case=cell.case, run=cell.run, **{"outcome": P, **fields}))
    return decide(parse_policy(table, Place("gate.toml")), results, planned=planned, facts=facts)


def rule(decision: Decision, name: str) -> Any:
    return next(r for r in decision.rules if r.rule == name)


@pytest.mark.parametrize(
    ("table", "special", "verdict"),
    [
        ({"zero": ["missing"]}, {}, Verdict.PASS),
        ({"zero": ["missing"]}, {4: None}, Verdict.BLOCK),
        ({"zero": ["late_code"]}, {4: {"outcome": F, "codes": ("refund.late_code",)}}, Verdict.BLOCK),
        ({"zero": ["a.late_code"]}, {4: {"outcome": F, "codes": ("refund.late_code",)}}, Verdict.PASS),
        ({"zero": ["x"]}, {4: {"outcome": F, "codes": ("y",), "critical": ("bad",)}}, Verdict.BLOCK),
        ({"zero": ["limit"]}, {4: Outcome.LIMIT}, Verdict.BLOCK),
        ({"overall": {"rate": 0.95}}, {0: F, 1: F, 2: F}, Verdict.PASS),
        ({"overall": {"rate": 0.95}}, {0: F, 1: F, 2: F, 3: F}, Verdict.BLOCK),
        ({"overall": {"rate": 0.95}}, {0: F, 1: F, 2: None, 3: Outcome.WITHHELD}, Verdict.BLOCK),
        ({"overall": {"lower_bound": 0.8}}, {}, Verdict.PASS),
        ({"overall": {"lower_bound": 0.85}}, {}, Verdict.UNDECIDED),
        ({"overall": {"lower_bound": 0.85}}, dict.fromkeys(range(0, 60, 5), F), Verdict.BLOCK),
        ({"slice": {"fraud": {"every_run": True}}}, {3: F}, Verdict.PASS),
        ({"slice": {"fraud": {"every_run": True}}}, {0: F}, Verdict.BLOCK),
        ({"slice": {"nowhere": {"rate": 0.1}}}, {}, Verdict.BLOCK),
        ({"slice": {"*": {"rate": 0.9}}}, {0: F}, Verdict.PASS),
        ({"slice": {"*": {"rate": 0.9}}}, {0: F, 1: F}, Verdict.BLOCK),
        ({"slice": {"*": {"rate": 0.9}, "fraud": {"rate": 0.5}}}, {0: F, 1: F}, Verdict.PASS),
        ({"case": {"passes": 2, "of": 3}}, {0: F, 3: F}, Verdict.PASS),
        ({"case": {"passes": 2, "of": 3}}, {0: F, 1: F}, Verdict.BLOCK),
        ({"case": {"passes": 2, "of": 4}}, {}, Verdict.BLOCK),
        ({"case": {"c01": {"every_run": True}}}, {0: F}, Verdict.PASS),
        ({"case": {"c00": {"every_run": True}}}, {0: F}, Verdict.BLOCK),
        ({"every_case": {"every_run": True}}, {}, Verdict.PASS),
        ({"every_case": {"every_run": True}}, {59: Outcome.AGENT_ERROR}, Verdict.BLOCK),
        ({"compare": {"margin": 0.02}}, {}, Verdict.UNDECIDED),
    ],
)
def test_rules(table: dict[str, Any], special: dict[int, Any], verdict: Verdict) -> None:
    assert gate(table, special).verdict is verdict


def test_unresolved_cells_are_read_both_ways() -> None:
    tipped = gate({"overall": {"rate": 0.95}}, {0: F, 1: F, 2: F, 3: E})
    assert tipped.verdict is Verdict.UNDECIDED
    assert (tipped.rate_low, tipped.rate_high) == (56 / 60, 57 / 60)
    assert rule(tipped, "overall.rate").held is Held.OPEN
    assert "unresolved cells could tip it" in tipped.reasons[0]
    assert gate({"overall": {"rate": 0.9}}, {0: F, 3: E}).verdict is Verdict.PASS
    assert gate({"overall": {"rate": 0.99}}, {0: F, 3: E}).verdict is Verdict.BLOCK
    assert gate({"zero": ["failed"]}, {3: E}).verdict is Verdict.UNDECIDED
    both = gate({"overall": {"rate": 0.95}, "slice": {"fraud": {"every_run": True}}}, {0: F, 12: E, 1: F, 2: F})
    assert both.verdict is Verdict.BLOCK
    assert [rule(both, name).held for name in ("overall.rate", "slice.fraud.every_run")] == [Held.OPEN, Held.BROKEN]
    grader = Outcome.GRADER_ERROR
    assert gate({"every_case": {"every_run": True}}, {3: grader}).verdict is Verdict.UNDECIDED


def test_above_the_cap_there_is_no_verdict() -> None:
    three = dict.fromkeys(range(3), E)
    assert gate({"overall": {"rate": 0.5}}, three).verdict is Verdict.PASS
    four = gate({"overall": {"rate": 0.5}}, dict.fromkeys(range(4), E))
    assert four.verdict is Verdict.INVALID
    assert "at most 0.05 of the planned cells unresolved: 0.0667 (4/60)" in four.reasons[0]
    assert gate({"overall": {"rate": 0.5}, "infra_cap": 0}, {0: E}).verdict is Verdict.INVALID


def test_zero_planned_cells_never_pass() -> None:
    decision = gate({"zero": ["missing"]}, cells=[])
    assert decision.verdict is Verdict.INVALID
    assert decision.rate_low is None
    assert decision.reasons == ("nothing was planned: zero planned cells never pass",)


@pytest.mark.parametrize(
    ("metrics", "nulls", "verdict"),
    [
        ((3, 3), "fail", Verdict.PASS),
        ((2, 3), "fail", Verdict.BLOCK),
        ((0, 0), "fail", Verdict.BLOCK),
        ((0, 0), "skip", Verdict.PASS),
        (None, "skip", Verdict.BLOCK),
    ],
)
def test_metrics_and_nulls(metrics: tuple[int, int] | None, nulls: str, verdict: Verdict) -> None:
    table = {"metric": {"recall": {"rate": 1.0, "nulls": nulls}}}
    special = {i: {"metrics": {"recall": (5, 5)}} for i in range(60)}
    special[7] = {"metrics": {} if metrics is None else {"recall": metrics}}
    decision = gate(table, special)
    assert decision.verdict is verdict
    assert gate(table, {**special, 7: E}).verdict is Verdict.UNDECIDED


def test_integrity_and_usage() -> None:
    table = {"zero": ["missing"], "integrity": "required"}
    assert gate(table).verdict is Verdict.INVALID
    assert gate(table, facts=RunFacts(integrity=True)).verdict is Verdict.PASS
    broken = gate({"zero": ["missing"]}, facts=RunFacts(integrity=False, integrity_note="root differs"))
    assert broken.verdict is Verdict.INVALID
    assert "root differs" in broken.reasons[0]
    table = {"zero": ["missing"], "usage": "required"}
    assert gate(table).verdict is Verdict.BLOCK
    good = UsageFact(valid=True, within_budget=True)
    assert gate(table, facts=RunFacts(usage=good)).verdict is Verdict.PASS
    retried = UsageFact(valid=True, within_budget=True, failed_attempts=1, failed_infra_attempts=1)
    assert gate(table, facts=RunFacts(usage=retried)).verdict is Verdict.BLOCK
    table = {"zero": ["missing"], "usage": {"gate": "required", "failed_attempts": "allow-infra"}}
    assert gate(table, facts=RunFacts(usage=retried)).verdict is Verdict.PASS
    over = UsageFact(valid=True, within_budget=False)
    assert gate({"zero": ["missing"]}, facts=RunFacts(usage=over)).verdict is Verdict.PASS


def test_every_rule_is_listed_in_layer_order_with_figure_and_place() -> None:
    table = {"zero": ["limit", "missing", "bad"], "overall": {"rate": 0.99}}
    decision = gate(table, {0: F, 5: F})
    layers = [r.layer.value for r in decision.rules]
    assert layers == ["integrity", "integrity", "integrity", "safety", "safety", "statistics", "cost"]
    overall = rule(decision, "overall.rate")
    assert (overall.figure, overall.threshold, overall.numerator, overall.denominator) == (
        58 / 60,
        0.99,
        58,
        60,
    )
    assert overall.cells == ("c00/1", "c01/3")
    assert decision.reasons == ("statistics: rate ≥ 0.99: 0.9667 (58/60); at c00/1, c01/3",)
    assert decision.to_dict()["verdict"] == "BLOCK"


def test_a_changed_gate_shows() -> None:
    policy = parse_policy({"zero": ["missing"]}, Place("gate.toml"))
    cells = plan(2)
    results = [CellResult(case=c.case, run=c.run, outcome=P) for c in cells]
    assert not decide(policy, results, planned=cells, registered_digest=policy.digest).rules_changed
    changed = decide(policy, results, planned=cells, registered_digest="sha256:00")
    assert changed.rules_changed
    assert changed.reasons == ("these rules are not the ones registered before the results",)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (CellResult(case="c00", run=9, outcome=P), "c00/9: a result for a cell that was never planned"),
        (CellResult(case="c00", run=1, outcome=P), "c00/1: two results for one cell"),
        (CellResult(case="c01", run=1, outcome=P, slice="x"), "c01/1: the slice isn't the planned one"),
        (CellResult(case="c01", run=1, outcome=P, metrics={"m": (2, 1)}), "c01/1: a metric that is no share"),
    ],
)
def test_results_that_do_not_fit_the_plan_are_broken_evidence(cell: CellResult, message: str) -> None:
    policy = parse_policy({"zero": ["missing"]}, Place("gate.toml"))
    first = CellResult(case="c00", run=1, outcome=P)
    with pytest.raises(EvidenceError) as caught:
        decide(policy, [first, cell], planned=plan(2))
    assert caught.value.message.startswith(message)
