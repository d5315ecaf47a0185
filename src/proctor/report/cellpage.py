"""One cell's section of the web page: findings, the steps around them, what changed, how it ended. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from proctor.ledger.trace import Step
from proctor.report.document import Cell, Finding
from proctor.report.evidence import CellEvidence, CycleEnding
from proctor.report.values import counted, one_line, value_text, visible
from proctor.report.worst import offending_steps, sorted_findings
from proctor.score.cells import CellUsage
from proctor.worlds.state import Change

__all__ = ["CellPage", "PageLimits", "Shown", "make_cell"]

_FINE = frozenset({"finished", "injected_crash"})


class Shown(str):
    """Text of several lines that is visible already."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class PageLimits:
    """How much a page shows: cells with a section, findings, steps, changes and endings of each, characters of a
    value and of a text, cases and runs in the grid, rows of other tables."""

    cells: int = 30
    findings: int = 12
    steps: int = 24
    changes: int = 12
    endings: int = 6
    value: int = 400
    text: int = 1_500
    grid_cases: int = 200
    grid_runs: int = 40
    rules: int = 200

    @property
    def is_least(self) -> bool:
        """Whether halving changes little."""
        return self.cells <= 2

    def halved(self) -> PageLimits:
        """Half of everything."""
        return replace(self, **{f.name: max(getattr(self, f.name) // 2, 1) for f in fields(self)})


@dataclass(frozen=True, kw_only=True)
class FindingRow:
    """A finding: ``where`` names cycle, steps and events."""

    code: str
    meaning: str
    critical: bool
    grader: str
    where: str
    detail: str
    field: str
    expected: str | None
    found: str | None


@dataclass(frozen=True, kw_only=True)
class StepRow:
    """A step of the trace; ``marks`` are the codes found there, ``notes`` what the harness did to it."""

    step: int
    event: int
    cycle: int
    actor: str
    action: str
    args: str
    result: str
    marks: Sequence[str]
    notes: Sequence[str]
    gap: int


@dataclass(frozen=True, kw_only=True)
class EndingRow:
    """How a cycle ended, and the end of what the agent wrote to stderr."""

    cycle: int
    reason: str
    fine: bool
    detail: str
    stderr: str


@dataclass(frozen=True, kw_only=True)
class CellPage:
    """A cell's section."""

    number: int
    name: str
    outcome: str
    codes: Sequence[str]
    facts: Sequence[tuple[str, str]]
    task: Sequence[tuple[str, str]]
    detail: str
    findings: Sequence[FindingRow]
    findings_left: int
    steps: Sequence[StepRow]
    steps_of: int
    changes: Sequence[tuple[str, str, str]]
    changes_left: int
    has_states: bool
    endings: Sequence[EndingRow]
    endings_left: int
    commands: Sequence[str]


def make_cell(
    number: int,
    cell: Cell,
    evidence: CellEvidence | None,
    *,
    run: str,
    meanings: Mapping[str, str],
    limits: PageLimits,
) -> CellPage:
    """A section; without ``evidence`` it has what the report alone says. ``meanings`` are those of reason codes."""
    findings = sorted_findings(cell.findings)
    events = evidence.events if evidence else {}
    steps = _steps(cell, evidence.steps, limits) if evidence else []
    changes = (evidence.changes or ()) if evidence else ()
    endings = _endings(evidence.endings, limits) if evidence else []
    quoted = shlex.quote(cell.name)
    recorded = cell.attempts is not None
    return CellPage(
        number=number,
        name=one_line(cell.name, 140),
        outcome=str(cell.end),
        codes=cell.failures[:8],
        facts=_facts(cell),
        task=_task(evidence.case if evidence else None, limits),
        detail=visible(cell.detail, limits.text),
        findings=[_finding(finding, events, meanings, limits) for finding in findings[: limits.findings]],
        findings_left=max(len(findings) - limits.findings, 0),
        steps=steps,
        steps_of=evidence.n_steps if evidence else 0,
        changes=[_change(change, limits) for change in changes[: limits.changes]],
        changes_left=max((evidence.n_changes if evidence else 0) - limits.changes, 0),
        has_states=evidence is not None and evidence.changes is not None,
        endings=endings[: limits.endings],
        endings_left=max(len(endings) - limits.endings, 0),
        commands=[f"proctor show {run} {quoted}", *([f"proctor verify {run} --cell {quoted}"] if recorded else [])],
    )


def _facts(cell: Cell) -> list[tuple[str, str]]:
    facts = [("slice", cell.slice), ("group", cell.group)]
    if cell.attempts is not None:
        facts.append(("attempts", str(cell.attempts)))
    if cell.ended:
        facts.append(("cycles", _ended(cell.ended)))
    if cell.attempts is not None:
        facts += usage_facts(cell.usage)
    if cell.trace:
        facts.append(("trace", cell.trace))
    return [(name, value) for name, value in facts if value]


def _ended(ended: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for reason in ended:
        counts[reason] = counts.get(reason, 0) + 1
    return ", ".join(f"{n:,} {reason}" for reason, n in counts.items())


def usage_facts(usage: CellUsage) -> list[tuple[str, str]]:
    """What a cell spent; what nobody knows is said to be unknown."""
    return [
        ("calls", "unknown" if usage.calls is None else f"{usage.calls:,}"),
        ("seconds", "unknown" if usage.seconds is None else f"{usage.seconds:,.2f}"),
        ("tokens", "unknown" if usage.tokens is None else f"{usage.tokens:,}"),
        ("US$", "unknown" if usage.usd is None else f"{usage.usd:,.4f}"),
    ]


def _task(case: Mapping[str, Any] | None, limits: PageLimits) -> list[tuple[str, str]]:
    rows = []
    for name in ("task", "input", "user", "setup"):
        value = (case or {}).get(name)
        if value:
            rows.append((name, one_line(value, limits.value)))
    return rows


def _finding(
    finding: Finding, events: Mapping[int, int], meanings: Mapping[str, str], limits: PageLimits
) -> FindingRow:
    return FindingRow(
        code=finding.code,
        meaning=one_line(meanings.get(finding.code, ""), 200),
        critical=finding.critical,
        grader=finding.grader,
        where=where_text(finding, events),
        detail=visible(finding.detail, limits.value),
        field=one_line(finding.field or "", 120),
        expected=one_line(finding.expected, limits.value) if finding.has_values else None,
        found=one_line(finding.found, limits.value) if finding.has_values else None,
    )


def where_text(finding: Finding, events: Mapping[int, int]) -> str:
    """``cycle 3 · step 12 (event 57)``; the whole cell where a finding names no place."""
    parts = [f"cycle {finding.cycle:,}"] if finding.cycle else []
    if finding.steps:
        shown = [f"{s:,}" + (f" (event {events[s]:,})" if s in events else "") for s in finding.steps[:5]]
        more = f" and {len(finding.steps) - 5:,} more" if len(finding.steps) > 5 else ""
        parts.append(("step " if len(finding.steps) == 1 else "steps ") + ", ".join(shown) + more)
    return " · ".join(parts) or "the whole cell"


def _steps(cell: Cell, steps: Sequence[Step], limits: PageLimits) -> list[StepRow]:
    marks = offending_steps(cell)
    rows, last = [], 0
    for step in steps[: limits.steps]:
        rows.append(
            StepRow(
                step=step.step,
                event=step.event,
                cycle=step.cycle,
                actor=step.actor,
                action=one_line(step.action, 120),
                args=one_line(step.args, limits.value),
                result=result_text(step, limits.value),
                marks=marks.get(step.step, ()),
                notes=step_notes(step),
                gap=step.step - last - 1,
            )
        )
        last = step.step
    return rows


def result_text(step: Step, limit: int) -> str:
    """What the agent was shown."""
    if step.actor == "world" or step.action == "finish":
        return ""
    if step.fault == "crash":
        return "nothing: the harness ended the agent here"
    return one_line(step.result, limit) if step.result is not None else "null"


def step_notes(step: Step) -> list[str]:
    """What was not plain about a call: the gateway's decision, an error, a fault."""
    notes = [] if step.decision == "allowed" else [step.decision.replace("_", " ")]
    if step.fault is not None:
        effect = "took effect" if step.took_effect else "no effect"
        notes.append(f"injected {step.fault} {step.fault_phase} the call: {effect}")
    elif step.error is not None and not notes:
        notes.append(f"error {step.error}")
    return notes


def _change(change: Change, limits: PageLimits) -> tuple[str, str, str]:
    before, after = change_texts(change)
    return one_line(change.table, 120), one_line(before, limits.value), one_line(after, limits.value)


def change_texts(change: Change) -> tuple[str, str]:
    """The row before and after; of a changed row its first column and the columns that differ."""
    before, after = change.before, change.after
    if before is not None and after is not None:
        key = next(iter(before), "")
        names = [n for n in {**before, **after} if n == key or before.get(n) != after.get(n)]
        before, after = {n: before.get(n) for n in names}, {n: after.get(n) for n in names}
    return tuple("no row" if row is None else value_text(row) for row in (before, after))  # type: ignore[return-value]


def _endings(endings: Sequence[CycleEnding], limits: PageLimits) -> list[EndingRow]:
    """Those that did not end well, or said something."""
    return [
        EndingRow(
            cycle=ending.cycle,
            reason=ending.reason,
            fine=ending.reason in _FINE,
            detail=visible(ending.detail, limits.value),
            stderr=last_lines(ending.stderr, limits.text),
        )
        for ending in endings
        if ending.reason not in _FINE or ending.stderr or ending.detail
    ]


def last_lines(text: str, limit: int) -> Shown:
    """The end of a text, line by line, every line visible."""
    kept = text[-limit:]
    lines = "\n".join(visible(line.rstrip("\r")) for line in kept.rstrip("\n").split("\n"))
    head = f"({counted(len(text) - len(kept), 'character')} before this)\n" if len(kept) < len(text) else ""
    return Shown(head + lines[-4 * limit :])
