"""What the web page shows, worked out: words, figures, bars, links, and what is left out. Pure.

Links are numbers (``#c3``), so that no name from data gets into an attribute. Left out: markup (``templates``).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor.kinds import Outcome, Verdict
from proctor.report.cellpage import CellPage, PageLimits, Shown, make_cell
from proctor.report.document import Cell, Document, Rule
from proctor.report.evidence import CellEvidence
from proctor.report.values import counted, one_line, percent
from proctor.report.worst import GLYPHS, MEANINGS, worst_cells
from proctor.score.summary import Rate

__all__ = ["Page", "PageLimits", "Shown", "make_page"]

_VERDICTS = {
    Verdict.PASS: "The gate holds.",
    Verdict.BLOCK: "The gate does not hold.",
    Verdict.INVALID: "No verdict: the input, the evidence or the isolation is not good enough for one.",
    Verdict.UNDECIDED: "This much data can't say: it is neither a pass nor a block.",
}
_HELD = {"holds": "holds", "broken": "broken", "open": "open"}


@dataclass(frozen=True, kw_only=True)
class Link:
    """A cell's name, and the number of its section if the page has one."""

    name: str
    to: int | None


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A figure with its name; ``note`` says what it is of."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """A rule of the gate."""

    held: str
    layer: str
    rule: str
    asks: str
    figure: str
    note: str
    cells: Sequence[Link]
    more: int


@dataclass(frozen=True, kw_only=True)
class RateRow:
    """A share with its counts; ``bar`` is 0 to 100, None where there is no value."""

    name: str
    value: str
    of: str
    bar: float | None
    kind: str
    worst: Link | None = None


@dataclass(frozen=True, kw_only=True)
class Square:
    """One cell in the grid: an outcome, a short word for it, and a link to its section."""

    kind: str
    word: str
    to: int | None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Case × run. ``left_out`` says what is not in it."""

    runs: Sequence[int]
    rows: Sequence[tuple[str, str, Sequence[Square | None]]]
    legend: Sequence[tuple[str, str, str, int]]
    left_out: str


@dataclass(frozen=True, kw_only=True)
class CodeRow:
    """A reason code: how many cells carry it, what it means, where to see it."""

    code: str
    cells: int
    meaning: str
    examples: Sequence[Link]


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
    rules: Sequence[RuleRow]
    metrics: Sequence[RateRow]
    grid: Grid
    slices: Sequence[RateRow]
    codes: Sequence[CodeRow]
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
    return Page(
        document=document,
        title=f"{document.verdict} · {document.suite} {document.suite_version} · Proctor report",
        kind=document.verdict.lower(),
        sentence=_sentence(document),
        exit_code=document.decision.exit_code,
        tiles=_tiles(document),
        notices=_notices(document),
        reasons=document.reasons[: limits.rules],
        rules=[_rule(rule, links) for rule in document.gate_basis[: limits.rules]],
        metrics=_metrics(document, links, limits),
        grid=_grid(document.cells, links, limits),
        slices=[_rate_row(name, rate) for name, rate in list(document.by_slice.items())[: limits.rules]],
        codes=_codes(document, links, limits),
        cells=[
            make_cell(number, cell, evidence.get(cell.name), run=run, limits=limits)
            for number, cell in enumerate(shown, 1)
        ],
        left_out=_left_out(failed, len(shown)),
        commands=_commands(run, shown),
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
    tiles = [Tile(name="Cells passed", value=f"{overall.passed:,} of {overall.total:,}", note=percent(overall.rate))]
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


def _rule(rule: Rule, links: Mapping[str, int]) -> RuleRow:
    return RuleRow(
        held=_HELD[str(rule.held)],
        layer=rule.layer,
        rule=rule.rule,
        asks=rule.asks,
        figure=_figure(rule),
        note=rule.note,
        cells=[_link(name, links) for name in rule.cells[:6]],
        more=max(rule.cells_against - 6, 0),
    )


def _figure(rule: Rule) -> str:
    if rule.figure is None:
        return ""
    text = _number(rule.figure)
    if rule.figure_best is not None and rule.figure_best != rule.figure:
        text += f" to {_number(rule.figure_best)}"
    if rule.denominator is not None and rule.threshold not in (None, 0.0):
        text += f" ({rule.numerator:,}/{rule.denominator:,})"
    elif rule.denominator is not None:
        text += f" of {rule.denominator:,}"
    return text


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) != 1 else f"{value:.4g}"


def _metrics(document: Document, links: Mapping[str, int], limits: PageLimits) -> list[RateRow]:
    rows = []
    for name, value in list(document.metrics.items())[: limits.rules]:
        basis = document.metric_basis.get(name)
        of, worst = "", None
        if basis is not None and basis.factors:
            of = "product of " + ", ".join(basis.factors)
        elif basis is not None and basis.denominator is not None:
            of = f"{basis.numerator or 0:,} of {basis.denominator:,}"
        if basis is not None and basis.worst_cell and value is not None and value < 1:
            worst = _link(basis.worst_cell, links)
        rows.append(
            RateRow(
                name=name,
                value="unknown" if value is None else _exact(value),
                of=of or "nothing to measure",
                bar=None if value is None else round(100 * min(max(value, 0.0), 1.0), 2),
                kind="none" if value is None else "full" if value == 1 else "part",
                worst=worst,
            )
        )
    return rows


def _exact(value: float) -> str:
    """Never shown as 1 unless it is."""
    text = f"{value:.4f}"
    return "1.0" if value == 1 else ("0.9999…" if text == "1.0000" else text)


def _rate_row(name: str, rate: Rate) -> RateRow:
    return RateRow(
        name=name,
        value=percent(rate.rate),
        of=f"{rate.passed:,} of {rate.total:,}",
        bar=None if rate.rate is None else round(100 * rate.rate, 2),
        kind="none" if rate.rate is None else "full" if rate.rate == 1 else "part",
    )


def _grid(cells: Sequence[Cell], links: Mapping[str, int], limits: PageLimits) -> Grid:
    cases: dict[str, dict[int, Cell]] = {}
    counts: dict[Outcome, int] = {}
    for cell in cells:
        cases.setdefault(cell.case_id, {})[cell.run] = cell
        counts[cell.end] = counts.get(cell.end, 0) + 1
    n_cases, all_runs = len(cases), sorted({cell.run for cell in cells})
    runs = all_runs[: limits.grid_runs]
    chosen = list(cases)
    if n_cases > limits.grid_cases:
        worst = sorted(chosen, key=lambda case: sum(cell.passed for cell in cases[case].values()) / len(cases[case]))
        chosen = worst[: limits.grid_cases]
    rows = [(case, next(iter(cases[case].values())).slice, _squares(cases[case], runs, links)) for case in chosen]
    left = []
    if n_cases > len(chosen):
        left.append(f"the {len(chosen):,} cases that fail most, of {n_cases:,}")
    if len(all_runs) > len(runs):
        left.append(f"the first {len(runs):,} runs, of {len(all_runs):,}")
    legend = [(str(o), GLYPHS[o], MEANINGS[o], counts[o]) for o in Outcome if o in counts]
    return Grid(runs=runs, rows=rows, legend=legend, left_out=" and ".join(left))


def _squares(cells: Mapping[int, Cell], runs: Sequence[int], links: Mapping[str, int]) -> list[Square | None]:
    return [
        Square(kind=str(cell.end), word=GLYPHS[cell.end], to=links.get(cell.name))
        if (cell := cells.get(run)) is not None
        else None
        for run in runs
    ]


def _codes(document: Document, links: Mapping[str, int], limits: PageLimits) -> list[CodeRow]:
    where: dict[str, list[str]] = {}
    for cell in document.cells:
        for code in cell.failures:
            if len(names := where.setdefault(code, [])) < 3:
                names.append(cell.name)
    counts = sorted(document.failure_counts.items(), key=lambda row: (-row[1], row[0]))
    return [
        CodeRow(
            code=code,
            cells=count,
            meaning=document.reason_codes.get(code, "no meaning was registered"),
            examples=[_link(name, links) for name in where.get(code, ())],
        )
        for code, count in counts[: limits.rules]
    ]


def _link(name: str, links: Mapping[str, int]) -> Link:
    return Link(name=one_line(name, 140), to=links.get(name))


def _left_out(failed: int, shown: int) -> str:
    if failed <= shown:
        return ""
    return f"The {shown:,} worst of {failed:,} cells that did not pass. The others are in report.json."


def _commands(run: str, shown: Sequence[Cell]) -> list[tuple[str, str]]:
    commands = [("see the worst cell, and every cell that did not pass", f"proctor show {run}")]
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
