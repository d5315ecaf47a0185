"""What a run spent, from its record: manifest and records as the executor saw them, and the agent's claims beside.

The executor knows that nothing was spent where the agent had no network; elsewhere what an agent spends without asking
Proctor is unknown, whatever it claims. Attempts come from the workers' logs, where each was registered before it
started; one that a crash of the supervisor cut off is over, and failed. Left out: reducing (``usage.reduce``), and how
a gate reads the result (``gate``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from proctor.gate.cells import UsageFact
from proctor.kinds import Outcome
from proctor.runner.claims import prices
from proctor.runner.record import AttemptRecord, RunRecord
from proctor.suite.model import Budget
from proctor.suite.plan import Cell
from proctor.usage.claims import ClaimedUsage, add_claimed, add_claims
from proctor.usage.collect import Collector, Coverage, reduce_cell, status_of
from proctor.usage.reduce import reduce_usage

__all__ = ["RunUsage", "run_usage"]

_FAILED = frozenset({Outcome.AGENT_ERROR, Outcome.LIMIT, Outcome.INFRA_ERROR})


class RunUsage(msgspec.Struct, frozen=True, kw_only=True):
    """A run's usage: the two files, the reduced result, what it means for the gate, and the report's section."""

    manifest: dict[str, Any]
    records: list[dict[str, Any]]
    result: dict[str, Any]
    fact: UsageFact | None
    section: dict[str, Any]


def run_usage(record: RunRecord, budget: Budget) -> RunUsage:
    """Manifest, records, result and report section of a run whose cells have all ended."""
    coverage = Coverage.UNKNOWN if record.isolation.network else Coverage.NO_NETWORK
    plan = record.plan
    collector = Collector(
        evaluation_id=record.registered.runId,
        candidate_id=plan.candidate.digest,
        budget_tokens=None if budget.tokens is None else budget.tokens * plan.size,
    )
    attempts = [(cell, attempt) for cell in plan.cells() for attempt in record.attempts.get(cell, ())]
    for cell, attempt in attempts:
        opened = collector.open_attempt(cell.case_id, f"run-{cell.run}", session_id=attempt.start.attempt)
        opened.close("failed" if _has_failed(attempt) else "succeeded", coverage)
    manifest, records = collector.seal()
    result = reduce_usage(manifest, records)
    claims = {cell: add_claims(record.claims(cell), prices()) for cell in plan.cells()}
    made = _Made(record, manifest, records, result, claims, attempts)
    return RunUsage(
        manifest=manifest,
        records=records,
        result=result,
        fact=_fact(result, [attempt for _, attempt in attempts]),
        section=_section(made),
    )


class _Made(NamedTuple):
    """What the report's section is made from."""

    record: RunRecord
    manifest: dict[str, Any]
    records: list[dict[str, Any]]
    result: dict[str, Any]
    claims: dict[Cell, ClaimedUsage | None]
    attempts: Sequence[tuple[Cell, AttemptRecord]]


def _has_failed(attempt: AttemptRecord) -> bool:
    end = attempt.end
    return end is None or (end.outcome is not None and Outcome(end.outcome) in _FAILED)


def _fact(result: dict[str, Any], attempts: Sequence[AttemptRecord]) -> UsageFact | None:
    status = status_of(result)
    if status == "unknown":
        return None
    failed = [attempt for attempt in attempts if _has_failed(attempt)]
    infra = [a for a in failed if a.end is None or a.end.outcome == Outcome.INFRA_ERROR]
    return UsageFact(
        valid=status == "verified",
        within_budget=not result["budget_exceeded"] if status == "verified" else None,
        failed_attempts=len(failed),
        failed_infra_attempts=len(infra),
    )


def _section(made: _Made) -> dict[str, Any]:
    """The report's ``usage``: status, totals, claims, failed attempts, and the same by slice."""
    record, manifest, records, result, claims, attempts = made
    status = status_of(result)
    everything = add_claimed(list(claims.values()))
    slices: dict[str, list[Cell]] = {}
    by_id = {ref.id: ref.slice for ref in record.plan.cases}
    for cell in record.plan.cells():
        slices.setdefault(by_id[cell.case_id], []).append(cell)
    return {
        "status": status,
        "totals": result["totals"] if status == "verified" else None,
        "errors": result["errors"][:3],
        "claimed": _claimed(everything),
        "attempts": len(attempts),
        "retries": sum(attempt.start.retry > 0 for _, attempt in attempts),
        "failed_attempts": [attempt.start.attempt for _, attempt in attempts if _has_failed(attempt)],
        "by_slice": {
            name: {
                "attempts": sum(len(record.attempts.get(cell, ())) for cell in cells),
                "tokens": _slice_tokens(manifest, records, cells, status),
                "claimed": _claimed(add_claimed([claims[cell] for cell in cells])),
            }
            for name, cells in sorted(slices.items())
        },
        "price_table": {"version": prices().version, "digest": prices().digest},
    }


def _slice_tokens(
    manifest: dict[str, Any], records: list[dict[str, Any]], cells: Sequence[Cell], status: str
) -> int | None:
    if status != "verified":
        return None
    results = [reduce_cell(manifest, records, cell.case_id, f"run-{cell.run}") for cell in cells]
    totals: list[int] = [result["totals"]["total_tokens"] for result in results if result["totals"] is not None]
    return sum(totals)


def _claimed(claimed: ClaimedUsage | None) -> dict[str, Any] | None:
    return None if claimed is None else msgspec.to_builtins(claimed)
