"""Which cells to look at first, and which of a cell's findings: worst first, always in the same order. Pure."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from proctor.kinds import Outcome
from proctor.report.document import Cell, Finding

__all__ = ["GLYPHS", "MEANINGS", "offending_steps", "sorted_findings", "worst_cells"]

_ORDER = (
    Outcome.FAILED,
    Outcome.AGENT_ERROR,
    Outcome.LIMIT,
    Outcome.MISSING,
    Outcome.GRADER_ERROR,
    Outcome.INFRA_ERROR,
    Outcome.WITHHELD,
    Outcome.PASSED,
)
_RANK = {outcome: rank for rank, outcome in enumerate(_ORDER)}

GLYPHS = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.AGENT_ERROR: "agent",
    Outcome.LIMIT: "limit",
    Outcome.MISSING: "miss",
    Outcome.INFRA_ERROR: "infra",
    Outcome.GRADER_ERROR: "grader",
    Outcome.WITHHELD: "held",
}
"""A short word for an outcome, for pictures."""

MEANINGS = {
    Outcome.PASSED: "every grader agreed",
    Outcome.FAILED: "a grader found something",
    Outcome.AGENT_ERROR: "the agent broke its protocol or died",
    Outcome.LIMIT: "a limit was reached",
    Outcome.MISSING: "no result came back",
    Outcome.INFRA_ERROR: "infrastructure failed, not the agent",
    Outcome.GRADER_ERROR: "a grader broke, not the agent",
    Outcome.WITHHELD: "evidence is withheld",
}


def worst_cells(cells: Iterable[Cell], limit: int) -> list[Cell]:
    """At most ``limit`` cells that did not pass: critical ones first, then by outcome, then by how much was found,
    then in the plan's order."""
    numbered = ((_badness(cell), place, cell) for place, cell in enumerate(cells) if not cell.passed)
    return [cell for _, _, cell in heapq.nsmallest(limit, numbered, key=lambda row: row[:2])]


def _badness(cell: Cell) -> tuple[int, int, int, int]:
    return (-len(cell.critical), _RANK[cell.end], -len(cell.failures), -len(cell.findings))


def sorted_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The first of each code, then the second of each, and so on; among those critical ones first, then those that
    name a step, in the order of the trace. So a few findings show as many different faults as they can."""
    ordered = sorted(findings, key=lambda f: (not f.critical, not f.steps, f.steps[:1], f.cycle))
    seen: Counter[str] = Counter()
    ranked = []
    for finding in ordered:
        ranked.append((seen[finding.code], finding))
        seen[finding.code] += 1
    return [finding for _, finding in sorted(ranked, key=lambda row: row[0])]


def offending_steps(cell: Cell) -> dict[int, tuple[str, ...]]:
    """Step → the codes found there."""
    marks: dict[int, dict[str, None]] = {}
    for finding in cell.findings:
        for step in finding.steps:
            marks.setdefault(step, {})[finding.code] = None
    return {step: tuple(codes) for step, codes in marks.items()}
