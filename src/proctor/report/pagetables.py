"""The web page's tables: rules, metrics, slices, the grid of cells, reason codes. Pure.

Links are numbers (``#c3``), so that no name from data gets into an attribute. Left out: markup (``templates``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.kinds import Outcome
from proctor.report.cellpage import PageLimits
from proctor.report.document import Cell, Document, Estimate, Rule, Spread
from proctor.report.values import counted, interval_text, one_line, percent
from proctor.report.worst import GLYPHS, MEANINGS
from proctor.score.summary import Rate

__all__ = [
    "CodeRow",
    "Grid",
    "Link",
    "RateRow",
    "RuleRow",
    "SliceRow",
    "Square",
    "chance_text",
    "code_rows",
    "make_grid",
    "metric_rows",
    "reliability_rows",
    "rule_row",
    "slice_rows",
]


@dataclass(frozen=True, kw_only=True)
class Link:
    """A cell's name, and the number of its section if the page has one."""

    name: str
    to: int | None


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """A rule of the gate."""

    held: str
    layer: str
    rule: str
    asks: str
    figure: str
    basis: str
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
class SliceRow:
    """A slice's share with its interval; places on the plot are 0 to 200."""

    name: str
    value: str
    of: str
    interval: str
    dot: float | None
    low: float | None
    high: float | None


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


def rule_row(rule: Rule, links: Mapping[str, int]) -> RuleRow:
    """A rule, with the first cells against it."""
    return RuleRow(
        held=str(rule.held),
        layer=rule.layer,
        rule=rule.rule,
        asks=rule.asks,
        figure=_figure(rule),
        basis=_basis(rule),
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
    return text


def _basis(rule: Rule) -> str:
    """What the figure is of: a count of so many, or its two counts."""
    if rule.figure is None or rule.denominator is None:
        return ""
    return f"of {rule.denominator:,}" if rule.threshold in (None, 0.0) else f"{rule.numerator:,}/{rule.denominator:,}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) != 1 else f"{value:.4g}"


def metric_rows(document: Document, links: Mapping[str, int], limits: PageLimits) -> list[RateRow]:
    """Metrics with numerators and denominators; derived ones with their factors."""
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


def slice_rows(document: Document, limits: PageLimits) -> list[SliceRow]:
    """All cells first, then each slice, with the interval that counts like cases once."""
    estimates = document.statistics.slices if document.statistics else {}
    rows = [_slice("all cells", document.overall, document.statistics.whole if document.statistics else None)]
    names = list(document.by_slice)[: limits.rules]
    return rows + [_slice(name, document.by_slice[name], estimates.get(name)) for name in names]


def _slice(name: str, rate: Rate, estimate: Estimate | None) -> SliceRow:
    interval = estimate.interval if estimate else None
    of = f"{rate.passed:,} of {rate.total:,}"
    if estimate is not None:
        of += f", {counted(estimate.clusters, 'cluster')}"
    return SliceRow(
        name=name,
        value=percent(rate.rate),
        of=of,
        interval=interval_text(interval),
        dot=_place(rate.rate),
        low=_place(interval.low if interval else None),
        high=_place(interval.high if interval else None),
    )


def _place(share: float | None) -> float | None:
    return None if share is None else round(200 * min(max(share, 0.0), 1.0), 1)


def reliability_rows(document: Document) -> list[tuple[str, str, str, str]]:
    """``k``, the chance that all of k runs pass, that any does, and over how many cases."""
    rows = document.statistics.reliability if document.statistics else ()
    return [(str(row.k), chance_text(row.all_of_k), chance_text(row.any_of_k), f"{row.cases:,}") for row in rows]


def chance_text(value: float | Spread | None) -> str:
    """A share, or why there is none."""
    if isinstance(value, Spread):
        return f"can't tell: {value.reason}"
    return percent(value)


def make_grid(cells: Sequence[Cell], links: Mapping[str, int], limits: PageLimits) -> Grid:
    """The grid in the plan's order; where there are too many cases, those that fail most."""
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


def code_rows(document: Document, links: Mapping[str, int], limits: PageLimits) -> list[CodeRow]:
    """Reason codes, the most frequent first."""
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
