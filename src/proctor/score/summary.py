"""From cells to figures, each with its denominator: the plan's cells, never the results that happened to come. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from proctor.kinds import Outcome
from proctor.score.cells import CellRecord

__all__ = ["MetricFigure", "Rate", "Summary", "summarise"]


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """``passed`` of ``total``; ``rate`` is None where nothing was planned, never 0."""

    passed: int
    total: int
    rate: float | None

    @classmethod
    def of(cls, passed: int, total: int) -> Rate:
        """A rate from its two counts."""
        return cls(passed=passed, total=total, rate=passed / total if total else None)


class MetricFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A metric over all cells: numerators and denominators added up. A derived one has ``factors`` instead."""

    value: float | None
    numerator: int | None = None
    denominator: int | None = None
    worst_cell: str | None = None
    factors: tuple[str, ...] = ()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in figures. ``all_runs_pass`` counts cases whose every run passed; ``coverage`` is results over planned."""

    overall: Rate
    coverage: Rate
    all_runs_pass: Rate
    by_run: tuple[Rate, ...]
    by_slice: dict[str, Rate]
    outcomes: dict[str, int]
    failure_counts: dict[str, int]
    metrics: dict[str, MetricFigure]


def summarise(cells: Sequence[CellRecord], *, runs: int, derived: Mapping[str, Sequence[str]] | None = None) -> Summary:
    """Figures over all planned cells, in the plan's order; missing ones are among them."""
    passed = [cell.passed for cell in cells]
    by_case: dict[str, bool] = {}
    for cell in cells:
        by_case[cell.case_id] = by_case.get(cell.case_id, True) and cell.passed
    slices = sorted({cell.slice for cell in cells})
    received = sum(cell.outcome is not Outcome.MISSING for cell in cells)
    return Summary(
        overall=Rate.of(sum(passed), len(cells)),
        coverage=Rate.of(received, len(cells)),
        all_runs_pass=Rate.of(sum(by_case.values()), len(by_case)),
        by_run=tuple(_rate([cell for cell in cells if cell.run == run]) for run in range(1, runs + 1)),
        by_slice={name: _rate([cell for cell in cells if cell.slice == name]) for name in slices},
        outcomes=dict(sorted(Counter(str(cell.outcome) for cell in cells).items())),
        failure_counts=dict(sorted(Counter(code for cell in cells for code in cell.codes).items())),
        metrics=_metrics(cells, derived or {}),
    )


def _rate(cells: Sequence[CellRecord]) -> Rate:
    return Rate.of(sum(cell.passed for cell in cells), len(cells))


def _metrics(cells: Sequence[CellRecord], derived: Mapping[str, Sequence[str]]) -> dict[str, MetricFigure]:
    numerators: Counter[str] = Counter()
    denominators: Counter[str] = Counter()
    worst: dict[str, tuple[float, str]] = {}
    for cell in cells:
        for metric in cell.metrics:
            numerators[metric.name] += metric.numerator
            denominators[metric.name] += metric.denominator
            value = metric.value
            if value is not None and value < worst.get(metric.name, (2.0, ""))[0]:
                worst[metric.name] = (value, cell.cell)
    figures = {
        name: MetricFigure(
            value=numerators[name] / total if total else None,
            numerator=numerators[name],
            denominator=total,
            worst_cell=worst.get(name, (0.0, None))[1],
        )
        for name, total in denominators.items()
    }
    for name, factors in derived.items():
        figures[name] = MetricFigure(value=_product(figures, factors), factors=tuple(factors))
    return figures


def _product(figures: Mapping[str, MetricFigure], factors: Sequence[str]) -> float | None:
    """Exact until the end; unknown where a factor is."""
    product = Fraction(1)
    for name in factors:
        figure = figures.get(name)
        if figure is None or figure.numerator is None or not figure.denominator:
            return None
        product *= Fraction(figure.numerator, figure.denominator)
    return float(product)
