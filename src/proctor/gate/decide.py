"""Applies a policy to a run: PASS, BLOCK, UNDECIDED or INVALID, with every rule's figure.

Unresolved cells (infrastructure and grader errors) are read both ways: PASS only if all rules hold with them counted
as failed, BLOCK only if some rule is broken with them counted as passed, UNDECIDED between, INVALID above the cap.
UNDECIDED too where a lower bound isn't reached although the rate itself is: too little data. Leaves out comparing with
a baseline (``comparison``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from proctor.gate.board import Board, BoolArray, lay_out
from proctor.gate.cells import CellResult, PlannedCell, RunFacts
from proctor.gate.judge import Judged, asks, expand, judge, layer_of, rule_name, threshold_of
from proctor.gate.model import Held, Layer, Policy, Rule
from proctor.kinds import Verdict

__all__ = ["MAX_LISTED_CELLS", "Decision", "RuleResult", "decide", "decide_board"]

MAX_LISTED_CELLS: Final = 200
"""How many cells a rule lists; ``cells_against`` counts them all."""


class RuleResult(msgspec.Struct, frozen=True, kw_only=True):
    """One rule with its figure, its threshold, whether it held and where it did not.

    ``figure`` counts unresolved cells as failed, ``figure_best`` as passed; None where there is no figure.
    ``numerator`` and ``denominator`` stand behind ``figure``. ``cells`` are ``CASE/RUN``, the first
    ``MAX_LISTED_CELLS`` of the ``cells_against``.
    """

    layer: Layer
    rule: str
    asks: str
    held: Held
    threshold: float | None
    figure: float | None
    figure_best: float | None
    numerator: int | None = None
    denominator: int | None = None
    cells: tuple[str, ...] = ()
    cells_against: int = 0
    note: str = ""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict and all it rests on.

    ``passed`` of ``planned`` cells; ``rate_low`` counts the ``unresolved`` cells as failed, ``rate_high`` as
    passed; both None when nothing was planned. ``reasons`` say in words why the verdict isn't PASS, in the
    order of the layers.
    """

    verdict: Verdict
    rules: tuple[RuleResult, ...]
    reasons: tuple[str, ...]
    planned: int
    received: int
    passed: int
    unresolved: int
    rate_low: float | None
    rate_high: float | None
    policy_digest: str
    rules_changed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the verdict by its name."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["verdict"] = self.verdict.name
        return document


def decide(
    policy: Policy,
    cells: Iterable[CellResult],
    *,
    planned: Sequence[PlannedCell],
    facts: RunFacts | None = None,
    registered_digest: str | None = None,
) -> Decision:
    """Hold a run's cells against the policy.

    ``planned`` is every cell of the plan, the denominator of all figures. ``registered_digest`` is the
    policy's digest in the plan: where it differs, ``rules_changed`` says so. Raises ``EvidenceError`` for
    results that don't fit the plan.
    """
    return decide_board(policy, lay_out(planned, cells), facts=facts, registered_digest=registered_digest)


def decide_board(
    policy: Policy, board: Board, *, facts: RunFacts | None = None, registered_digest: str | None = None
) -> Decision:
    """Hold cells that are laid out already against the policy: all planned ones, as in ``decide``."""
    facts = facts or RunFacts()
    results = [*_run_rules(policy, board, facts), _critical(board)]
    results += [_judge(rule, board) for rule in expand(policy, board.slices.names)]
    order = list(Layer)
    results.sort(key=lambda r: order.index(r.layer))
    verdict, reasons = _verdict(policy, board, results, facts)
    changed = registered_digest is not None and registered_digest != policy.digest
    if changed:
        reasons.insert(0, "these rules are not the ones registered before the results")
    passed, unresolved, total = int(board.passed.sum()), int(board.unresolved.sum()), board.n_cells
    return Decision(
        verdict=verdict,
        rules=tuple(results),
        reasons=tuple(reasons),
        planned=total,
        received=board.received,
        passed=passed,
        unresolved=unresolved,
        rate_low=passed / total if total else None,
        rate_high=(passed + unresolved) / total if total else None,
        policy_digest=policy.digest,
        rules_changed=changed,
    )


def _judge(rule: Rule, board: Board) -> RuleResult:
    worst = judge(rule, board, board.passed, worst=True)
    best = worst
    if board.unresolved.any():
        best = judge(rule, board, board.passed | board.unresolved, worst=False)
    held = Held.OPEN
    if worst.holds and best.holds:
        held = Held.HOLDS
    elif not worst.holds and not best.holds and not best.undecided:
        held = Held.BROKEN
    shown = (
        worst
        if held is not Held.HOLDS
        else Judged(
            holds=True,
            figure=worst.figure,
            numerator=worst.numerator,
            denominator=worst.denominator,
            at=worst.at & False,
            note=worst.note,
        )
    )
    return RuleResult(
        layer=layer_of(rule),
        rule=rule_name(rule),
        asks=asks(rule),
        held=held,
        threshold=threshold_of(rule),
        figure=worst.figure,
        figure_best=best.figure,
        numerator=worst.numerator,
        denominator=worst.denominator,
        cells=_names(board, shown.at),
        cells_against=int(shown.at.sum()),
        note=shown.note,
    )


def _names(board: Board, at: BoolArray) -> tuple[str, ...]:
    return tuple(board.cell_name(int(i)) for i in np.flatnonzero(at)[:MAX_LISTED_CELLS])


def _run_rules(policy: Policy, board: Board, facts: RunFacts) -> list[RuleResult]:
    """The rules on the run as a whole: evidence, unresolved cells, usage."""
    total, unresolved = board.n_cells, int(board.unresolved.sum())
    share = unresolved / total if total else None
    integrity_ok = facts.integrity is True or (facts.integrity is None and policy.integrity == "report")
    unknown = "" if facts.integrity is not None else "nobody verified it"
    results = [
        RuleResult(
            layer=Layer.INTEGRITY,
            rule="integrity",
            asks="the evidence verifies and the demanded isolation held"
            + ("" if policy.integrity == "required" else ", where it was looked at"),
            held=Held.HOLDS if integrity_ok else Held.BROKEN,
            threshold=None,
            figure=None,
            figure_best=None,
            note=facts.integrity_note or unknown,
        ),
        RuleResult(
            layer=Layer.INTEGRITY,
            rule="infra_cap",
            asks=f"at most {policy.infra_cap:g} of the planned cells unresolved",
            held=Held.HOLDS if share is not None and share <= policy.infra_cap else Held.BROKEN,
            threshold=policy.infra_cap,
            figure=share,
            figure_best=share,
            numerator=unresolved,
            denominator=total,
            cells=_names(board, board.unresolved),
            cells_against=unresolved,
            note="" if total else "no planned cell",
        ),
    ]
    if policy.usage == "required" or facts.usage is not None:
        results.append(_usage(policy, facts))
    return results


def _usage(policy: Policy, facts: RunFacts) -> RuleResult:
    usage, problems = facts.usage, []
    if usage is None:
        problems.append("usage is unknown")
    else:
        blocking = usage.failed_attempts
        if policy.failed_attempts == "allow-infra":
            blocking -= usage.failed_infra_attempts
        if not usage.valid:
            problems.append("the usage records are invalid")
        if usage.within_budget is False:
            problems.append("over budget")
        if blocking > 0:
            problems.append(f"{blocking} failed attempts")
    required = policy.usage == "required"
    return RuleResult(
        layer=Layer.COST,
        rule="usage",
        asks="usage is known, valid and within budget" + ("" if required else " (reported only)"),
        held=Held.BROKEN if problems and (required or (usage is not None and not usage.valid)) else Held.HOLDS,
        threshold=None,
        figure=None,
        figure_best=None,
        note=", ".join(problems),
    )


def _critical(board: Board) -> RuleResult:
    at, codes = board.critical()
    count = int(at.sum())
    return RuleResult(
        layer=Layer.SAFETY,
        rule="critical",
        asks="no cell with a critical violation",
        held=Held.BROKEN if count else Held.HOLDS,
        threshold=0.0,
        figure=count,
        figure_best=count,
        numerator=count,
        denominator=board.n_cells,
        cells=_names(board, at),
        cells_against=count,
        note=", ".join(codes[:8]) + (" …" if len(codes) > 8 else ""),
    )


def _verdict(policy: Policy, board: Board, results: Sequence[RuleResult], facts: RunFacts) -> tuple[Verdict, list[str]]:
    if not board.n_cells:
        return Verdict.INVALID, ["nothing was planned: zero planned cells never pass"]
    by_rule = {result.rule: result for result in results}
    invalid = [_say(by_rule[name]) for name in ("integrity", "infra_cap") if by_rule[name].held is Held.BROKEN]
    if invalid:
        return Verdict.INVALID, invalid
    broken = [_say(result) for result in results if result.held is Held.BROKEN]
    opened = [_say(result) for result in results if result.held is Held.OPEN]
    if broken:
        return Verdict.BLOCK, broken + opened
    if opened:
        return Verdict.UNDECIDED, opened
    if not policy.rules:
        return Verdict.UNDECIDED, ["the gate has no rule for a run by itself, only for a comparison"]
    return Verdict.PASS, []


def _say(result: RuleResult) -> str:
    """One line: what was asked, what came, where."""
    text = f"{result.layer.value}: {result.asks}"
    if result.figure is not None:
        text += f": {_number(result.figure)}"
        if result.figure_best is not None and result.figure_best != result.figure:
            text += f" to {_number(result.figure_best)}"
        if result.rule.endswith((".rate", "every_run", "infra_cap")) or result.rule.startswith(("case", "metric")):
            text += f" ({result.numerator}/{result.denominator})"
    if result.held is Held.OPEN and result.figure != result.figure_best:
        text += "; unresolved cells could tip it"
    if result.note:
        text += f"; {result.note}"
    if result.cells:
        more = f" and {result.cells_against - 3:,} more" if result.cells_against > 3 else ""
        text += f"; at {', '.join(result.cells[:3])}{more}"
    return text


def _number(value: float) -> str:
    return f"{value:g}" if float(value).is_integer() and abs(value) > 1 else f"{value:.4f}".rstrip("0").rstrip(".")
