"""From graded cells to figures and the gate's answer: the same steps for a live run and for one graded again."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.errors import SuiteError
from proctor.gate.cells import CellResult, PlannedCell, RunFacts, UsageFact
from proctor.gate.decide import Decision, decide
from proctor.gate.model import Policy
from proctor.gate.policy import parse_policy
from proctor.kinds import Outcome
from proctor.runner.observed import ObservedUse
from proctor.score.cells import CellRecord
from proctor.score.summary import Summary, summarise
from proctor.suite.load import Suite
from proctor.suite.plan import Plan

__all__ = ["gate_policy", "judge_cells"]


def gate_policy(suite: Suite) -> Policy:
    """The suite's gate. Raises ``SuiteError`` with the line of the rule."""
    try:
        return parse_policy(suite.gate_values, suite.gate_place(""))
    except SuiteError as error:
        path = error.place.field if error.place and error.place.field else ""
        error.place = suite.gate_place(path.removeprefix("gate").removeprefix("."))
        raise


def judge_cells(
    plan: Plan,
    cells: Sequence[CellRecord],
    policy: Policy,
    suite: Suite,
    *,
    usage: UsageFact | None,
    observed: ObservedUse,
) -> tuple[Summary, Decision]:
    """Figures and verdict over the plan's cells; ``usage`` is None where nobody knows what was spent. Whatever was
    observed and not allowed invalidates the run; that the evidence verifies is for ``proctor verify`` to say."""
    derived = {name: figure.product for name, figure in suite.spec.metrics.items()}
    summary = summarise(cells, runs=plan.runs, derived=derived)
    planned = [PlannedCell(case=c.case_id, run=c.run, slice=c.slice, group=c.group) for c in cells]
    results = [_result(cell) for cell in cells if cell.outcome is not Outcome.MISSING]
    note = "" if observed.holds else f"observed, and not allowed: {'; '.join(observed.outside[:3])}"
    facts = RunFacts(integrity=None if observed.holds else False, integrity_note=note, usage=usage)
    decision = decide(policy, results, planned=planned, facts=facts, registered_digest=plan.gate_digest)
    return summary, decision


def _result(cell: CellRecord) -> CellResult:
    return CellResult(
        case=cell.case_id,
        run=cell.run,
        outcome=cell.outcome,
        slice=cell.slice,
        group=cell.group,
        codes=cell.codes,
        critical=cell.critical,
        metrics={metric.name: (metric.numerator, metric.denominator) for metric in cell.metrics},
        tokens=cell.usage.tokens,
        cost_usd=cell.usage.usd,
    )
