"""A cell as text of at most 80 columns: what was found, the transcript with offending steps marked, how each cycle
ended, what changed in the world. And the way from a blocked run to there. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from proctor.ledger.trace import Step
from proctor.report.cellpage import change_texts, last_lines, result_text, step_notes, usage_facts
from proctor.report.document import Cell, Document
from proctor.report.evidence import CellEvidence, CycleEnding
from proctor.report.style import PLAIN, Style
from proctor.report.text import WIDTH, cut_lines, finding_lines, verdict_line
from proctor.report.values import counted, fit, one_line, pad, value_text, visible, wrap
from proctor.report.worst import MEANINGS, offending_steps, sorted_findings, worst_cells
from proctor.worlds.state import Change

__all__ = ["cell_text", "run_text", "trace_text"]

_MOST_CELLS = 20
_MOST_FINDINGS = 12
_MOST_CHANGES = 20
_MOST_STDERR = 2_000
_FINE = ("finished", "injected_crash")
_MARGIN = 20


def run_text(document: Document, *, folder: str, style: Style = PLAIN) -> str:
    """The verdict, why, and the cells that did not pass, worst first."""
    who = f"{fit(f'{document.suite} {document.suite_version}', 28)} · {fit(document.agent, 48)}"
    lines = [verdict_line(document, style), who]
    for reason in document.reasons[:6]:
        first, *rest = cut_lines(reason, WIDTH - 4, 6)
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    failed = sum(not cell.passed for cell in document.cells)
    if not failed:
        return "\n".join([*lines, "", f"every cell passed; 'proctor show {visible(folder)} CELL' shows one", ""])
    lines += ["", style.bold(f"{counted(failed, 'cell')} did not pass, worst first")]
    for cell in worst_cells(document.cells, _MOST_CELLS):
        codes = ", ".join(cell.failures)
        lines.append(f"  {pad(cell.name, 20)}  {pad(str(cell.end).replace('_', ' '), 12)}  {fit(codes, WIDTH - 38)}")
    if failed > _MOST_CELLS:
        lines.append(f"  … and {failed - _MOST_CELLS:,} more in {fit(folder, 40)}/report.json")
    return "\n".join(line.rstrip() for line in [*lines, ""])


def cell_text(
    cell: Cell,
    evidence: CellEvidence | None,
    *,
    folder: str,
    meanings: Mapping[str, str] | None = None,
    style: Style = PLAIN,
) -> str:
    """Everything about one cell. ``evidence`` may be an excerpt; what it leaves out is said. ``meanings`` are those of
    reason codes."""
    end = str(cell.end).replace("_", " ")
    marked = style.good(end) if cell.passed else style.bad(end)
    name = fit(cell.name, WIDTH - len(end) - len(MEANINGS[cell.end]) - 4)
    lines = [f"{style.bold(name)}  {marked}  {MEANINGS[cell.end]}"]
    facts = [("slice", cell.slice), ("group", cell.group)]
    if cell.attempts is not None:
        facts += [("attempts", str(cell.attempts)), *usage_facts(cell.usage)]
    lines += [f"  {line}" for line in wrap("  ".join(f"{k} {one_line(v, 60)}" for k, v in facts if v), WIDTH - 2)]
    if cell.detail:
        lines += [f"  {line}" for line in cut_lines(cell.detail, WIDTH - 2, 4)]
    lines += _case(evidence)
    lines += _findings(cell, evidence, meanings or {}, style)
    if evidence is not None:
        lines += ["", style.bold("  transcript"), *_transcript(cell, evidence, style)]
        lines += _state(evidence, style)
    if cell.attempts is not None:
        run, name = visible(shlex.quote(folder)), visible(shlex.quote(cell.name))
        lines += ["", f"  whole trace        proctor trace {run} {name}"]
        lines.append(f"  check the record   proctor verify {run} --cell {name}")
    lines.append("")
    return "\n".join(line.rstrip() for line in lines)


def trace_text(cell: Cell, rows: Sequence[tuple[str, Step]], style: Style = PLAIN) -> str:
    """Every step of every attempt. Findings belong to the last attempt."""
    attempts: dict[str, list[Step]] = {}
    for attempt, step in rows:
        attempts.setdefault(attempt, []).append(step)
    lines = [f"{style.bold(fit(cell.name, 60))}  {counted(len(rows), 'step')}"]
    for number, (attempt, steps) in enumerate(attempts.items(), 1):
        if len(attempts) > 1:
            lines += ["", f"attempt {fit(attempt, 70)}"]
        marks = offending_steps(cell) if number == len(attempts) else {}
        cycle = 0
        for step in steps:
            if step.cycle != cycle:
                cycle = step.cycle
                lines.append(style.dim(f"  cycle {cycle}"))
            lines += _step(step, marks.get(step.step, ()), style)
    return "\n".join(line.rstrip() for line in lines)


def _case(evidence: CellEvidence | None) -> Iterator[str]:
    for name in ("task", "input", "user"):
        value = (evidence.case or {}).get(name) if evidence else None
        if value:
            first, *rest = cut_lines(value_text(value), WIDTH - 9, 3)
            yield f"  {name:<6} {first}"
            yield from (f"  {'':<6} {line}" for line in rest)


def _findings(cell: Cell, evidence: CellEvidence | None, meanings: Mapping[str, str], style: Style) -> list[str]:
    if not cell.findings:
        return []
    events = evidence.events if evidence else {}
    lines = ["", style.bold("  found")]
    for finding in sorted_findings(cell.findings)[:_MOST_FINDINGS]:
        lines += finding_lines(finding, events, style, meanings=meanings)
    if len(cell.findings) > _MOST_FINDINGS:
        lines.append(f"    … and {counted(len(cell.findings) - _MOST_FINDINGS, 'more finding')} in report.json")
    return lines


def _transcript(cell: Cell, evidence: CellEvidence, style: Style) -> Iterator[str]:
    if not evidence.n_steps:
        yield "    no step: the agent did nothing"
    marks = offending_steps(cell)
    by_cycle: dict[int, list[Step]] = {}
    for step in evidence.steps:
        by_cycle.setdefault(step.cycle, []).append(step)
    endings = {ending.cycle: ending for ending in evidence.endings}
    last, quiet = 0, 0
    for cycle in sorted({*by_cycle, *endings}):
        ending = endings.get(cycle)
        if cycle not in by_cycle and evidence.n_steps and ending is not None and ending.reason in _FINE:
            quiet += 1
            continue
        yield style.dim(f"  cycle {cycle}")
        for step in by_cycle.get(cycle, ()):
            if step.step > last + 1:
                yield style.dim(f"      … {counted(step.step - last - 1, 'step')} not shown")
            last = step.step
            yield from _step(step, marks.get(step.step, ()), style)
        if ending is not None:
            yield from _ending(ending, style)
    if evidence.n_steps > last:
        yield style.dim(f"      … {counted(evidence.n_steps - last, 'more step')}")
    if quiet:
        yield style.dim(f"  {counted(quiet, 'other cycle')} ended as expected")


def _step(step: Step, codes: Sequence[str], style: Style) -> Iterator[str]:
    """``>   4  agent  issue_refund {…}``, then what was shown and what was not plain."""
    arrow = style.bad(">") if codes else " "
    call = f"{one_line(step.action, 60)} {one_line(step.args, 400)}" if step.args not in ({}, None) else step.action
    first, *rest = cut_lines(call, WIDTH - _MARGIN, 2)
    yield f"  {arrow} {step.step:>5}  {pad(step.actor, 6)}   {first}"
    space = " " * _MARGIN
    yield from (f"{space}{line}" for line in rest)
    shown = result_text(step, 300)
    if shown:
        lines = cut_lines(shown, WIDTH - _MARGIN - 2, 2)
        yield from (f"{space}{'→ ' if number == 0 else '  '}{line}" for number, line in enumerate(lines))
    yield from (space + style.warn(fit(f"! {note}", WIDTH - _MARGIN)) for note in step_notes(step))
    yield from (space + style.bad(fit(f"< {code}", WIDTH - _MARGIN)) for code in codes)


def _ending(ending: CycleEnding, style: Style) -> Iterator[str]:
    reason = fit(ending.reason.replace("_", " "), 40)
    marked = style.dim(reason) if ending.reason in _FINE else style.bad(reason)
    status = "" if ending.exit_status in (None, 0) else f" · exit status {ending.exit_status}"
    yield f"    ended: {marked}{status}"
    if ending.detail:
        yield from (f"      {line}" for line in cut_lines(ending.detail, WIDTH - 6, 3))
    if ending.stderr:
        yield "      the agent wrote to stderr (a claim):"
        for line in last_lines(ending.stderr, _MOST_STDERR).split("\n")[-12:]:
            yield from (f"      | {part}" for part in cut_lines(line, WIDTH - 8, 3))


def _state(evidence: CellEvidence, style: Style) -> Iterator[str]:
    if evidence.changes is None:
        return
    yield ""
    yield f"{style.bold('  state before → after')}  {counted(evidence.n_changes, 'row')} changed"
    for change in evidence.changes[:_MOST_CHANGES]:
        yield from _change(change, style)
    if evidence.n_changes > _MOST_CHANGES:
        yield f"    … and {evidence.n_changes - _MOST_CHANGES:,} more"


def _change(change: Change, style: Style) -> Iterator[str]:
    before, after = change_texts(change)
    signs: Mapping[str, tuple[str, str]] = {"-": ("-", before), "+": ("+", after)}
    name = fit(change.table, 20)
    for sign, text in signs.values():
        if (change.before if sign == "-" else change.after) is None:
            continue
        first, *rest = cut_lines(text, WIDTH - 28, 3)
        mark = style.bad if sign == "-" else style.good
        yield f"    {pad(name, 20)}  {mark(f'{sign} {first}')}"
        yield from (f"{'':<28}{mark(line)}" for line in rest)
        name = ""
