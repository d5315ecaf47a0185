"""What the web page shows, worked out: words, figures, bars, links, and what is left out. Pure.

Left out: tables (``report.pagetables``), a cell's section (``report.cellpage``), markup (``templates``).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor.kinds import Verdict
from proctor.report.cellpage import CellPage, PageLimits, Shown, make_cell
from proctor.report.document import Cell, Document, SliceUsage
from proctor.report.evidence import CellEvidence
from proctor.report.pagetables import (
    CodeRow,
    Grid,
    RateRow,
    RuleRow,
    SliceRow,
    code_rows,
    make_grid,
    metric_rows,
    reliability_rows,
    rule_row,
    slice_rows,
)
from proctor.report.values import counted, interval_text, percent
from proctor.report.worst import worst_cells

__all__ = ["Page", "PageLimits", "Shown", "make_page"]

_VERDICTS = {
    Verdict.PASS: "The gate holds.",
    Verdict.BLOCK: "The gate does not hold.",
    Verdict.INVALID: "No verdict: the input, the evidence or the isolation is not good enough for one.",
    Verdict.UNDECIDED: "This much data can't say: it is neither a pass nor a block.",
}


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A figure with its name; ``note`` says what it is of."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """All of the page."""

    document: Document
    title: str
    kind: str
    sentence: str
    exit_code: int
    tiles: Sequence[Tile]
    notices: Sequence[str]
    reasons: Sequence[str]
    against: Sequence[RuleRow]
    holding: Sequence[RuleRow]
    metrics: Sequence[RateRow]
    grid: Grid
    slices: Sequence[SliceRow]
    reliability: Sequence[tuple[str, str, str, str]]
    codes: Sequence[CodeRow]
    usage: Sequence[tuple[str, SliceUsage]]
    cells: Sequence[CellPage]
    left_out: str
    commands: Sequence[tuple[str, str]]
    digests: Sequence[tuple[str, str]] = field(default=())


def make_page(document: Document, *, folder: str, evidence: Mapping[str, CellEvidence], limits: PageLimits) -> Page:
    """Everything that the template needs, in its order."""
    shown = worst_cells(document.cells, limits.cells)
    links = {cell.name: number for number, cell in enumerate(shown, 1)}
    failed = sum(not cell.passed for cell in document.cells)
    run = shlex.quote(folder)
    rules = [rule_row(rule, links) for rule in document.gate_basis]
    return Page(
        document=document,
        title=f"{document.verdict} · {document.suite} {document.suite_version} · Proctor report",
        kind=document.verdict.lower(),
        sentence=_sentence(document),
        exit_code=document.decision.exit_code,
        tiles=_tiles(document),
        notices=_notices(document),
        reasons=document.reasons[: limits.rules],
        against=[row for row in rules if row.held != "holds"][: limits.rules],
        holding=[row for row in rules if row.held == "holds"][: limits.rules],
        metrics=metric_rows(document, links, limits),
        grid=make_grid(document.cells, links, limits),
        slices=slice_rows(document, limits),
        reliability=reliability_rows(document),
        codes=code_rows(document, links, limits),
        usage=list(document.usage.by_slice.items())[: limits.rules] if document.usage else [],
        cells=[
            make_cell(number, cell, evidence.get(cell.name), run=run, meanings=document.reason_codes, limits=limits)
            for number, cell in enumerate(shown, 1)
        ],
        left_out=_left_out(failed, len(shown)),
        commands=_commands(document, run, shown),
        digests=_digests(document),
    )


def _sentence(document: Document) -> str:
    broken = sum(rule.held == "broken" for rule in document.gate_basis)
    opened = sum(rule.held == "open" for rule in document.gate_basis)
    text = _VERDICTS[document.decision]
    if broken:
        text += f" {counted(broken, 'rule')} of {len(document.gate_basis)} broken."
    if opened:
        text += f" {counted(opened, 'rule')} could fall either way."
    if document.decision is Verdict.PASS:
        text += " That says these rules held for these cells, and no more."
    return text


def _tiles(document: Document) -> list[Tile]:
    overall, bounds = document.overall, document.overall_bounds
    note = percent(overall.rate)
    whole = document.statistics.whole if document.statistics else None
    if whole is not None and whole.interval.low is not None:
        note += f", 95% interval {interval_text(whole.interval)}"
    tiles = [Tile(name="Cells passed", value=f"{overall.passed:,} of {overall.total:,}", note=note)]
    if bounds.unresolved:
        span = f"{percent(bounds.low)} to {percent(bounds.high)}"
        tiles.append(Tile(name="Unresolved cells", value=f"{bounds.unresolved:,}", note=f"passed: {span}"))
    if document.all_runs_pass is not None:
        rate = document.all_runs_pass
        tiles.append(
            Tile(name="Cases that pass every run", value=f"{rate.passed:,} of {rate.total:,}", note=percent(rate.rate))
        )
    if document.covered is not None:
        tiles.append(Tile(name="Coverage", value=percent(document.covered), note="results over planned cells"))
    floor = document.do_nothing_floor
    if floor is not None:
        tiles.append(
            Tile(name="Do-nothing floor", value=f"{floor.passed:,} of {floor.total:,}", note="cases, with no agent")
        )
    if document.isolation is not None:
        tiles.append(Tile(name="Isolation", value=document.isolation.tier, note="see what it allows to be claimed"))
    return tiles


def _notices(document: Document) -> list[str]:
    notices = []
    if document.partial:
        notices.append("A partial plan: part of the suite's cells was left out, so this can't pass.")
    if document.rules_changed:
        notices.append("The gate's rules are not the ones that were registered before the results.")
    if document.synthetic_only:
        notices.append("Synthetic only: no real model produced these results.")
    return notices


def _left_out(failed: int, shown: int) -> str:
    if failed <= shown:
        return ""
    return f"The {shown:,} worst of {failed:,} cells that did not pass. The others are in report.json."


def _commands(document: Document, run: str, shown: Sequence[Cell]) -> list[tuple[str, str]]:
    commands = [("see the worst cell, and every cell that did not pass", f"proctor show {run}")]
    if document.run is None:  # recorded elsewhere: there is no trace and no log of ours
        return commands
    if shown:
        commands.append(("read a cell's whole trace", f"proctor trace {run} {shown[0].name}"))
    commands.append(("check that the record is whole and unchanged", f"proctor verify {run}"))
    return commands


def _digests(document: Document) -> list[tuple[str, str]]:
    rows = (
        ("plan", document.plan_digest),
        ("suite", document.suite_digest),
        ("dataset", document.dataset_digest),
        ("graders", document.grader_version),
        ("gate", document.gate_digest),
        ("agent", None if isinstance(document.candidate, str) else document.candidate.digest),
    )
    return [(name, digest) for name, digest in rows if digest]
