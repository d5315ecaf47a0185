"""The report of a recorded evaluation as plain text of at most 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from proctor.errors import shorten
from proctor.gate.model import Held
from proctor.report.records import MEANING, GridReport
from proctor.score.summary import Rate

__all__ = ["record_scorecard"]

_WIDTH = 80
_MOST_CELLS = 8


def record_scorecard(report: GridReport) -> str:
    """Figures with their denominators, every rule that did not hold, the first failing cells and why, who repairs;
    the last line is the summary line."""
    return "\n".join([*(line[:_WIDTH] for line in _lines(report)), report.summary_line])


def _lines(report: GridReport) -> Iterator[str]:
    figures = report.figures
    yield f"  {'overall':<28}  {_rate(figures.overall)}"
    yield f"  {'results received':<28}  {_rate(figures.coverage)}"
    yield f"  {'cases passing in every run':<28}  {_rate(figures.all_runs_pass)}"
    yield from _interval(report)
    for name, rate in figures.by_slice.items():
        yield f"  {'slice ' + shorten(name, 22):<28}  {_rate(rate)}"
    if figures.traffic_weighted is not None:
        yield f"  {'weighted by traffic':<28}  {figures.traffic_weighted:.1%}"
    yield ""
    if figures.failure_counts:
        yield "   cells  label          who repairs"
        for name, row in report.head()["failure_owners"].items():
            yield f"  {row['cells']:>6}  {name:<13}  {row['owner']}"
        yield ""
    broken = [rule for rule in report.decision.rules if rule.held is not Held.HOLDS]
    if broken:
        yield "  rules that did not hold"
        for reason in report.decision.reasons:
            yield from _wrapped(reason)
        yield ""
    yield from _cells(report)
    if report.holdout is not None:
        spent = "; it is spent: its figures no longer speak for unseen cases" if report.holdout["spent"] else ""
        yield from _wrapped(f"holdout: use {report.holdout['uses']} of {report.holdout['budget']}{spent}", "  ")
    yield from _wrapped(MEANING, "  ")


def _interval(report: GridReport) -> Iterator[str]:
    statistics = report.head()["statistics"]
    interval, clusters = statistics["low"]["interval"], statistics["low"]["clusters"]
    if "low" in interval:
        span = f"{interval['low']:.1%} to {interval['high']:.1%}"
        yield f"  {'95% interval':<28}  {span}, {clusters:,} independent {statistics['clusters_are']}"
    else:
        yield f"  {'95% interval':<28}  cannot tell: {interval['reason'].partition(':')[0]}"


def _rate(rate: Rate) -> str:
    return f"{rate.passed}/{rate.total} ({'no cells' if rate.rate is None else f'{rate.rate:.1%}'})"


def _cells(report: GridReport) -> Iterator[str]:
    for cell in report.explained[:_MOST_CELLS]:
        for finding in cell.findings[:3]:
            name = shorten(f"{cell.case_id}/{cell.run}", 24)
            yield f"  {name}: {finding.label} at {shorten(finding.field, 30)}"
            yield f"      expected {shorten(finding.expected, 60)}"
            yield f"      found    {shorten(finding.found, 60)}"
    more = report.figures.overall.total - report.figures.overall.passed - len(report.explained[:_MOST_CELLS])
    if more > 0 and report.explained:
        yield f"  … and {more:,} more failing {'cell' if more == 1 else 'cells'} in the report"
    if report.explained:
        yield ""


def _wrapped(text: str, start: str = "    - ") -> Iterator[str]:
    return iter(wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)))
