"""One rule against the board, with unresolved cells counted one way. Leaves out what follows from it
(``decide``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proctor.gate.board import Board, BoolArray
from proctor.gate.model import (
    CaseRule,
    EveryRunRule,
    Layer,
    MetricRule,
    Policy,
    Rule,
    ThresholdRule,
    ZeroRule,
)
from proctor.kinds import Outcome
from proctor.stats.cluster import CannotTell, Clusters
from proctor.stats.estimate import rate_estimate

__all__ = ["Judged", "asks", "expand", "judge", "layer_of", "rule_name", "threshold_of"]


_Z95_SQUARED = 3.841458820694124
"""Square of the standard normal's 97.5% point."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """What a rule gives on one reading of the board.

    ``figure`` is compared with the rule's threshold, None where there is none. ``at`` marks the cells that
    stand against the rule. ``note`` says what a number can't. ``undecided``: the rule doesn't hold on this
    much data, but nothing observed speaks against it either.
    """

    holds: bool
    figure: float | None
    numerator: int
    denominator: int
    at: BoolArray
    note: str = ""
    undecided: bool = False


def expand(policy: Policy, slices: Sequence[str]) -> list[Rule]:
    """The policy's rules with ``slice."*"`` written out for each slice that has no rule of its own."""
    own = {r.slice for r in policy.rules if isinstance(r, (ThresholdRule, EveryRunRule)) and r.slice}
    rules: list[Rule] = []
    for rule in policy.rules:
        if isinstance(rule, ThresholdRule) and rule.slice == "*" and slices:
            rules += [
                ThresholdRule(slice=name, figure=rule.figure, at_least=rule.at_least)
                for name in sorted(slices)
                if name not in own
            ]
        elif isinstance(rule, EveryRunRule) and rule.slice == "*" and slices:
            rules += [EveryRunRule(slice=name) for name in sorted(slices) if name not in own]
        else:
            rules.append(rule)
    return rules


def layer_of(rule: Rule) -> Layer:
    """The layer in which a rule is listed."""
    return rule.layer if isinstance(rule, ZeroRule) else Layer.STATISTICS


def rule_name(rule: Rule) -> str:
    """The rule's path in the gate file."""
    if isinstance(rule, ZeroRule):
        return f"zero.{rule.what}"
    if isinstance(rule, ThresholdRule):
        return f"slice.{rule.slice}.{rule.figure}" if rule.slice else f"overall.{rule.figure}"
    if isinstance(rule, MetricRule):
        return f"metric.{rule.name}"
    if isinstance(rule, EveryRunRule):
        if rule.slice:
            return f"slice.{rule.slice}.every_run"
        return f"case.{rule.case}.every_run" if rule.case else "every_case.every_run"
    return f"case.{rule.case}" if rule.case else "case"


def asks(rule: Rule) -> str:
    """What the rule asks, in words."""
    if isinstance(rule, ZeroRule):
        return f"no cell with {rule.what}"
    if isinstance(rule, ThresholdRule):
        figure = "rate" if rule.figure == "rate" else "lower end of the 95% interval"
        return f"{figure} ≥ {rule.at_least:g}" + (f" in slice {rule.slice}" if rule.slice else "")
    if isinstance(rule, MetricRule):
        return f"{rule.name} ≥ {rule.at_least:g}"
    if isinstance(rule, EveryRunRule):
        where = f"each case of slice {rule.slice}" if rule.slice else f"case {rule.case}" if rule.case else "each case"
        return f"{where} passes in every run"
    return f"{f'case {rule.case}' if rule.case else 'each case'} passes in {rule.passes} of {rule.of} runs"


def threshold_of(rule: Rule) -> float:
    """The number that the figure is held against."""
    if isinstance(rule, ZeroRule):
        return 0.0
    if isinstance(rule, (ThresholdRule, MetricRule)):
        return rule.at_least
    return 1.0


def judge(rule: Rule, board: Board, passed: BoolArray, *, worst: bool) -> Judged:
    """The rule on a reading of the board: ``passed`` says which cells count as passed.

    ``worst``: unresolved cells count as failed, so that what only they could tell counts against the rule.
    """
    if isinstance(rule, ZeroRule):
        return _zero(rule, board, worst)
    if isinstance(rule, ThresholdRule):
        return _threshold(rule, board, passed)
    if isinstance(rule, MetricRule):
        return _metric(rule, board, worst)
    return _cases(rule, board, passed)


def _zero(rule: ZeroRule, board: Board, worst: bool) -> Judged:
    at = board.marked(rule.what)
    if worst and rule.what == Outcome.FAILED.value:
        at = at | board.unresolved
    count = int(at.sum())
    return Judged(holds=not count, figure=count, numerator=count, denominator=board.n_cells, at=at)


def _threshold(rule: ThresholdRule, board: Board, passed: BoolArray) -> Judged:
    here = np.ones(board.n_cells, dtype=np.bool_) if rule.slice is None else board.slices.where(rule.slice)
    cells, good = int(here.sum()), int((here & passed).sum())
    at = here & ~passed
    if not cells:
        note = "no planned cell" if rule.slice is None else "the plan has no cell of this slice"
        return Judged(holds=False, figure=None, numerator=0, denominator=0, at=at, note=note)
    if rule.figure == "rate":
        rate = good / cells
        return Judged(holds=rate >= rule.at_least, figure=rate, numerator=good, denominator=cells, at=at)
    clusters = Clusters.of_codes(passed[here].astype(np.float64), board.clusters[here], board.n_clusters)
    interval = rate_estimate(clusters).interval
    spans = good / cells >= rule.at_least
    if isinstance(interval, CannotTell):
        note = f"cannot tell: {interval.reason}"
        return Judged(holds=False, figure=None, numerator=good, denominator=cells, at=at, note=note, undecided=spans)
    note = f"{interval.method}, {clusters.n_clusters} clusters, {interval.low:.4f} to {interval.high:.4f}"
    holds = interval.low >= rule.at_least
    if not holds and spans:
        note += f"; too few to say: with every cell passing it takes {_clusters_needed(rule.at_least)} clusters"
    return Judged(
        holds=holds,
        figure=interval.low,
        numerator=good,
        denominator=cells,
        at=at,
        note=note,
        undecided=spans and not holds,
    )


def _clusters_needed(at_least: float) -> str:
    """How many clusters, all of them passing, lift the lower end of a 95% Wilson interval to ``at_least``:
    from
    n / (n + z²) ≥ p."""
    if at_least >= 1.0:
        return "infinitely many"
    return str(math.ceil(_Z95_SQUARED * at_least / (1.0 - at_least)))


def _metric(rule: MetricRule, board: Board, worst: bool) -> Judged:
    numerator = denominator = 0
    at = np.zeros(board.n_cells, dtype=np.bool_)
    nulls = np.zeros(board.n_cells, dtype=np.bool_)
    for index, pair in enumerate(board.shares(rule.name)):
        if board.unresolved[index]:
            nulls[index] = worst
            continue
        if pair is None or (pair[1] == 0 and rule.nulls == "fail"):
            nulls[index] = True
        else:
            numerator, denominator = numerator + pair[0], denominator + pair[1]
            at[index] = pair[0] < pair[1]
    value = numerator / denominator if denominator else None
    missing = int(nulls.sum())
    note = f"{missing} cells have no value" if missing else "nothing to measure" if value is None else ""
    holds = value is not None and not missing and value >= rule.at_least
    return Judged(holds=holds, figure=value, numerator=numerator, denominator=denominator, at=at | nulls, note=note)


def _cases(rule: EveryRunRule | CaseRule, board: Board, passed: BoolArray) -> Judged:
    """Share of the cases that pass often enough; a case whose planned runs aren't the rule's ``of``
    doesn't.
    """
    here = np.ones(board.n_cells, dtype=np.bool_)
    if isinstance(rule, EveryRunRule) and rule.slice is not None:
        here = board.slices.where(rule.slice)
    if rule.case is not None:
        here = board.cases.where(rule.case)
    n = len(board.cases.names)
    of: npt.NDArray[np.intp] = board.cases.of
    planned = np.bincount(of[here], minlength=n)
    good = np.bincount(of[here & passed], minlength=n)
    used, note = planned > 0, ""
    if isinstance(rule, CaseRule):
        enough = (good >= rule.passes) & (planned == rule.of)
        odd = int((used & (planned != rule.of)).sum())
        note = f"{odd} cases are not planned for {rule.of} runs" if odd else ""
    else:
        enough = good == planned
    total, held = int(used.sum()), int((used & enough).sum())
    if not total:
        return Judged(holds=False, figure=None, numerator=0, denominator=0, at=~here & False, note="no planned case")
    at = here & ~passed & ~enough[of]
    if not at.any():
        at = here & ~enough[of]
    return Judged(holds=held == total, figure=held / total, numerator=held, denominator=total, at=at, note=note)
