"""What a gate will do before anything has run: rules nobody can pass or none can fail, and a good agent's
chance.

The simulation is seeded; the same inputs give the same figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from proctor.gate.board import Board, BoolArray, lay_out
from proctor.gate.cells import CellResult, PlannedCell
from proctor.gate.judge import asks, expand, judge, rule_name
from proctor.gate.model import MetricRule, Policy, Rule, ZeroRule
from proctor.kinds import Outcome

__all__ = ["Chance", "PolicyFinding", "chance_of_passing", "check_policy"]

_DRAWS: Final = 2_000
_MAX_DRAWN_CELLS: Final = 20_000_000


class Chance(msgspec.Struct, frozen=True, kw_only=True):
    """A simulated chance: ``passed`` of ``draws`` runs of the whole plan got through.

    ``error`` is the simulation's standard error (None if all or none passed: the chance is then near, not at,
    the end). ``hardest`` names the rule that was broken most often, with the share of draws in which it was.
    """

    chance: float
    error: float | None
    passed: int
    draws: int
    seed: int
    true_rate: float
    hardest: str | None
    hardest_broken: float
    assumes: str


class PolicyFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that says nothing: ``problem`` is "nobody can pass" or "none can fail"."""

    rule: str
    problem: str
    detail: str


def check_policy(policy: Policy, planned: Sequence[PlannedCell]) -> list[PolicyFinding]:
    """Rules that a perfect candidate breaks on this plan, and rules that the worst candidate keeps."""
    if not planned:
        return [PolicyFinding(rule="", problem="nobody can pass", detail="the plan has no cell")]
    best = lay_out(planned, [_cell(cell, Outcome.PASSED) for cell in planned])
    worst = lay_out(planned, [_cell(cell, Outcome.FAILED) for cell in planned])
    findings: list[PolicyFinding] = []
    for rule in expand(policy, best.slices.names):
        if isinstance(rule, (ZeroRule, MetricRule)):
            if isinstance(rule, MetricRule) and rule.at_least == 0:
                findings.append(_finding(rule, "none can fail", "any value is at least 0"))
            continue
        perfect = judge(rule, best, best.passed, worst=True)
        if not perfect.holds:
            reached = "none" if perfect.figure is None else f"{perfect.figure:.4f}"
            detail = f"{asks(rule)}: with all {perfect.denominator} passed, the figure is {reached}"
            findings.append(_finding(rule, "nobody can pass", f"{detail}; {perfect.note}".rstrip("; ")))
        elif judge(rule, worst, worst.passed, worst=True).holds:
            findings.append(_finding(rule, "none can fail", f"{asks(rule)}: holds with every cell failed"))
    return findings


def _cell(cell: PlannedCell, outcome: Outcome) -> CellResult:
    return CellResult(case=cell.case, run=cell.run, outcome=outcome)


def _finding(rule: Rule, problem: str, detail: str) -> PolicyFinding:
    return PolicyFinding(rule=rule_name(rule), problem=problem, detail=detail)


def chance_of_passing(
    policy: Policy,
    planned: Sequence[PlannedCell],
    *,
    true_rate: float = 0.98,
    draws: int = _DRAWS,
    seed: int = 1,
) -> Chance:
    """How often an agent that passes each cell with chance ``true_rate``, independently, passes this gate.

    Rules on codes and metrics are taken to hold (a failing cell fails with an ordinary code), but for zero
    ``failed``. Large plans get fewer draws, so that the work stays within 20 million cells.
    """
    if not 0 <= true_rate <= 1:
        raise ValueError(f"true_rate must be between 0 and 1; got {true_rate}")
    if draws < 1:
        raise ValueError(f"draws must be at least 1; got {draws}")
    board = lay_out(planned, [_cell(cell, Outcome.PASSED) for cell in planned])
    rules = [r for r in expand(policy, board.slices.names) if not isinstance(r, MetricRule) and _counts(r)]
    draws = max(1, min(draws, _MAX_DRAWN_CELLS // max(1, len(planned))))
    rng = np.random.default_rng(seed)
    broken = dict.fromkeys(map(rule_name, rules), 0)
    passed = 0
    for _ in range(draws):
        held = True
        cells: BoolArray = rng.random(len(planned)) < true_rate
        for rule in rules:
            if not _holds(rule, board, cells):
                broken[rule_name(rule)] += 1
                held = False
        passed += held and bool(planned) and bool(policy.rules)
    chance = passed / draws
    hardest = max(broken, key=broken.__getitem__, default=None)
    return Chance(
        chance=chance,
        error=math.sqrt(chance * (1 - chance) / draws) if 0 < passed < draws else None,
        passed=passed,
        draws=draws,
        seed=seed,
        true_rate=true_rate,
        hardest=hardest if hardest is not None and broken[hardest] else None,
        hardest_broken=broken[hardest] / draws if hardest is not None else 0.0,
        assumes="cells pass independently; rules on codes and metrics hold",
    )


def _counts(rule: Rule) -> bool:
    return not isinstance(rule, ZeroRule) or rule.what == Outcome.FAILED.value


def _holds(rule: Rule, board: Board, cells: BoolArray) -> bool:
    if isinstance(rule, ZeroRule):
        return bool(cells.all())
    return judge(rule, board, cells, worst=True).holds
