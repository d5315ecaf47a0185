"""The report as data: what ``report.json`` holds and every rendering is made from. Pure.

The figures depend on the plan and the cells alone; what differs between two runs of the same thing (ids,
times) stands under ``run``. Left out: rendering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.gate.decide import Decision
from proctor.kinds import Outcome, Verdict
from proctor.score.cells import CellRecord
from proctor.score.summary import Rate, Summary
from proctor.stats.describe import CellFact, describe
from proctor.stats.ratio import ratio_estimate
from proctor.suite.plan import Plan

__all__ = ["NOT_CLAIMED", "REPORT_VERSION", "RunFigures", "build_report"]

REPORT_VERSION = 1

NOT_CLAIMED = (
    "that a model is the one its provider names",
    "that the operator of this machine did not collude",
    "that a model never saw these cases in training",
)


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside the cells in a run's report. ``floor`` is what an agent that does nothing would
    score.
    """

    run_id: str
    started: str
    finished: str
    isolation: Mapping[str, Any]
    floor: Rate | None
    codes: Mapping[str, str]
    usage: Mapping[str, Any] | None = None


def build_report(
    plan: Plan, cells: Sequence[CellRecord], summary: Summary, decision: Decision, figures: RunFigures
) -> dict[str, Any]:
    """``report.json`` as plain values, keys in reading order."""
    verdict = _verdict(decision, plan)
    metrics = {name: figure.value for name, figure in summary.metrics.items()}
    complete = all(cell.outcome is Outcome.PASSED for cell in cells) and bool(cells)
    return {
        "schema_version": REPORT_VERSION,
        "suite": plan.suite,
        "suite_version": plan.suite_version,
        "candidate": msgspec.to_builtins(plan.candidate),
        "verdict": verdict.name,
        "exit_code": verdict.exit_code,
        "gate": verdict.name,
        "reasons": list(_reasons(decision, plan)),
        "scorer_pass": complete and all(value == 1.0 for value in metrics.values()),
        "pilot_pass": None,
        "overall": msgspec.to_builtins(summary.overall),
        "overall_bounds": {"low": decision.rate_low, "high": decision.rate_high, "unresolved": decision.unresolved},
        "statistics": msgspec.to_builtins(describe([_fact(cell) for cell in cells])),
        "coverage": summary.coverage.rate,
        "all_runs_pass": msgspec.to_builtins(summary.all_runs_pass),
        "by_run": [msgspec.to_builtins(rate) for rate in summary.by_run],
        "by_slice": {name: msgspec.to_builtins(rate) for name, rate in summary.by_slice.items()},
        "do_nothing_floor": None if figures.floor is None else msgspec.to_builtins(figures.floor),
        "metrics": metrics,
        "metric_basis": {name: msgspec.to_builtins(figure) for name, figure in summary.metrics.items()},
        "outcomes": summary.outcomes,
        "failure_counts": summary.failure_counts,
        "reason_codes": {code: figures.codes[code] for code in summary.failure_counts if code in figures.codes},
        "usage": figures.usage,
        "cost_per_pass": _cost_per_pass(cells),
        "gate_basis": [msgspec.to_builtins(rule) for rule in decision.rules],
        "synthetic_only": plan.synthetic_only,
        "repeats": plan.runs,
        "seed": plan.seed,
        "planned_cells": plan.size,
        "partial": not plan.selection.is_whole,
        "plan_digest": plan.digest,
        "suite_digest": plan.suite_digest,
        "dataset_digest": plan.dataset_digest,
        "grader_version": plan.grader_digest,
        "gate_digest": decision.policy_digest,
        "rules_changed": decision.rules_changed,
        "proctor_version": plan.proctor,
        "isolation": dict(figures.isolation),
        "not_claimed": list(NOT_CLAIMED),
        "run": {"id": figures.run_id, "started": figures.started, "finished": figures.finished},
        "cells": [_cell(cell) for cell in cells],
    }


def _cost_per_pass(cells: Sequence[CellRecord]) -> dict[str, Any] | None:
    """US$ for each cell that passed, the failed ones' spend included; None where a cell's spend is unknown. Without
    verified figures it is what the agent claims, and says so."""
    for basis in ("verified", "claimed"):
        name = "usd" if basis == "verified" else "claimed_usd"
        spent = [getattr(cell.usage, name) for cell in cells]
        if not spent or any(amount is None for amount in spent):
            continue
        ratio = ratio_estimate(spent, [float(cell.passed) for cell in cells], [cell.group for cell in cells])
        return None if ratio is None else {"basis": basis, **msgspec.to_builtins(ratio)}
    return None


def _verdict(decision: Decision, plan: Plan) -> Verdict:
    """A partial plan can't pass: what it left out was not judged."""
    if decision.verdict is Verdict.PASS and not plan.selection.is_whole:
        return Verdict.UNDECIDED
    return decision.verdict


def _reasons(decision: Decision, plan: Plan) -> Sequence[str]:
    if plan.selection.is_whole:
        return decision.reasons
    return (*decision.reasons, "this is a partial plan: part of the suite's cells was left out, so it can't pass")


def _fact(cell: CellRecord) -> CellFact:
    return CellFact(
        case=cell.case_id,
        passed=cell.passed,
        unresolved=cell.outcome.is_unresolved,
        slice=cell.slice,
        group=cell.group,
    )


def _cell(cell: CellRecord) -> dict[str, Any]:
    return {
        "case_id": cell.case_id,
        "run": cell.run,
        "slice": cell.slice,
        "group": cell.group,
        "outcome": str(cell.outcome),
        "passed": cell.passed,
        "failures": list(cell.codes),
        "critical": list(cell.critical),
        "detail": cell.detail,
        "findings": [{"grader": grader, **msgspec.to_builtins(finding)} for grader, finding in cell.findings],
        "metrics": {metric.name: metric.value for metric in cell.metrics},
        "attempts": cell.attempts,
        "ended": list(cell.ended),
        "usage": msgspec.to_builtins(cell.usage),
        "trace": f"traces/{cell.case_id}.{cell.run}.jsonl" if cell.attempts else None,
        "states": {"before": cell.before, "after": cell.after},
    }
