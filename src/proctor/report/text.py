"""The report as text of at most 80 columns: the scorecard, a cell's findings, and the progress line. Pure.

Text from agents and worlds is shown with everything unprintable escaped; wide and combining characters are counted as
the columns that they take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.report.cellpage import where_text
from proctor.report.document import Document, Finding, Rule, Usage, read_document
from proctor.report.style import PLAIN, Style
from proctor.report.values import (
    counted,
    fit,
    interval_text,
    one_line,
    pad,
    percent,
    text_width,
    value_text,
    visible,
    wrap,
)
from proctor.report.worst import sorted_findings, worst_cells
from proctor.score.summary import Rate

__all__ = ["WIDTH", "cut_lines", "finding_lines", "incident", "progress_line", "scorecard", "verdict_line"]

WIDTH = 80
_MOST_REASONS = 10
_MOST_CELLS = 4
_MOST_FINDINGS = 3
_MOST_ROWS = 20


def progress_line(done: int, planned: int, cell: str, outcome: str, *, seconds: float | None = None) -> str:
    """``[#####     ]  3/6  R07/3 passed  2.1 s a cell, 6 s left``. ``seconds`` have passed since the start."""
    width = 20
    filled = width * done // planned if planned else width
    head = f"[{'#' * filled}{' ' * (width - filled)}] {done:,}/{planned:,}  "
    tail = ""
    if seconds is not None and done:
        each = seconds / done
        rate = f"{each:.1f} s a cell" if each >= 1 else f"{1 / max(each, 1e-9):,.0f} cells a second"
        tail = f"  {rate}" + (f", {_duration(each * (planned - done))} left" if done < planned else "")
    room = WIDTH - 1 - len(head) - len(tail)
    return head + fit(f"{cell} {outcome}", max(room, 8)) + tail


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def scorecard(report: Mapping[str, Any], *, folder: str, brief: bool = False, style: Style = PLAIN) -> str:
    """What a person reads at the end of a run: verdict, why, figures with their denominators, where to look next.

    ``report`` is ``report.json`` as plain values; ``brief``: the verdict's line alone.
    """
    document = read_document(report)
    if brief:
        return verdict_line(document, style)
    lines = [
        "",
        f"  {verdict_line(document, style)}",
        "  " + fit(_who(document), WIDTH - 2),
        *(f"  {style.warn(notice)}" for notice in _notices(document)),
        "",
        *_reasons(document.reasons, style),
        *_rules(document.gate_basis, style),
        *_metrics(document, style),
        *(_slices(document) if len(document.cells) > 1 else ()),
        *_failures(document, style),
        *_cells(document, style),
        *_foot(document, folder, style),
    ]
    return "\n".join(line.rstrip() for line in lines)


def verdict_line(document: Document, style: Style = PLAIN) -> str:
    """``BLOCK  4/6 cells passed``, with the bounds where cells are unresolved."""
    overall, bounds = document.overall, document.overall_bounds
    line = f"{style.verdict(document.verdict, document.verdict)}  {overall.passed:,}/{overall.total:,} cells passed"
    if bounds.unresolved:
        line += f", {bounds.unresolved:,} unresolved: {percent(bounds.low)} to {percent(bounds.high)}"
    return line


def finding_lines(
    finding: Finding, events: Mapping[int, int], style: Style, *, meanings: Mapping[str, str], indent: int = 4
) -> list[str]:
    """A finding: code and place, what it says (what its code means, if it says nothing), expected and found."""
    space = " " * indent
    where = where_text(finding, events)
    critical = "  critical" if finding.critical else ""
    code = fit(finding.code, WIDTH - indent - len(critical) - 4)
    lines = [f"{space}{style.bad(code)}{style.bad(critical)}"]
    rest = WIDTH - indent - text_width(code) - len(critical) - 2
    if len(where) <= rest:
        lines[0] += f"  {where}"
    else:
        lines += [f"{space}  {line}" for line in wrap(where, WIDTH - indent - 2)[:2]]
    said = finding.detail or meanings.get(finding.code, "")
    if said:
        lines += [f"{space}  {line}" for line in cut_lines(said, WIDTH - indent - 2, 3)]
    if finding.field and finding.field not in said:
        lines += _value_lines("field", finding.field, indent + 2, str)
    if finding.has_values:
        lines += _value_lines("expected", finding.expected, indent + 2, style.good)
        lines += _value_lines("found", finding.found, indent + 2, style.bad)
    return lines


def _value_lines(name: str, value: object, indent: int, mark: Any) -> list[str]:
    first, *rest = cut_lines(value_text(value), WIDTH - indent - 10, 2)
    space = " " * indent
    return [f"{space}{name:<9} {mark(first)}", *(f"{space}{'':<9} {mark(line)}" for line in rest)]


def cut_lines(text: str, width: int, most: int) -> list[str]:
    """At most ``most`` lines, the last one cut where there would be more."""
    lines = wrap(one_line(text, width * most + width), width)
    if len(lines) <= most:
        return lines
    last = fit(lines[most - 1], width - 1)
    return [*lines[: most - 1], last if last.endswith("…") else last + "…"]


def incident(report: Mapping[str, Any], *, wanted: Sequence[str], namespace: str, style: Style = PLAIN) -> str:
    """Verdict and the first finding with one of the ``wanted`` codes (any finding, if none has): where, what, and the
    expected and found values."""
    document = read_document(report)
    codes = {f"{namespace}.{code}" for code in wanted} | set(wanted)
    rows = [(cell, finding) for cell in document.cells for finding in cell.findings]
    chosen = next((row for row in rows if row[1].code in codes), rows[0] if rows else None)
    head = fit(", ".join(document.failure_counts) or "no reason code", WIDTH - 8 - len(document.verdict))
    lines = [f"      {style.verdict(document.verdict, document.verdict)}  {head}"]
    if chosen is None:
        lines += [f"      {fit(reason, WIDTH - 6)}" for reason in document.reasons[:2]]
    else:
        lines += finding_lines(chosen[1], {}, style, meanings=document.reason_codes, indent=6)
    return "\n".join(lines)


def _who(document: Document) -> str:
    seed = "" if document.seed is None else f" · seed {document.seed}"
    head = fit(f"{document.suite} {document.suite_version}".strip(), 30)
    return f"{head} · {fit(document.agent, WIDTH - 5 - text_width(head) - len(seed))}{seed}"


def _notices(document: Document) -> list[str]:
    notices = []
    if document.partial:
        notices.append("partial plan: part of the suite's cells was left out")
    if document.rules_changed:
        notices.append("the gate's rules are not the ones registered before the results")
    if document.synthetic_only:
        notices.append("synthetic only: no real model produced these results")
    return notices


def _reasons(reasons: Sequence[str], style: Style) -> list[str]:
    if not reasons:
        return []
    lines = [style.bold("  why")]
    for reason in reasons[:_MOST_REASONS]:
        first, *rest = cut_lines(reason, WIDTH - 6, 6)
        lines += [f"    - {first}", *(f"      {line}" for line in rest)]
    if len(reasons) > _MOST_REASONS:
        lines.append(f"    … and {counted(len(reasons) - _MOST_REASONS, 'more reason')} in the report")
    return [*lines, ""]


def _rules(rules: Sequence[Rule], style: Style) -> list[str]:
    if not rules:
        return []
    counts = [sum(rule.held == held for rule in rules) for held in ("holds", "broken", "open")]
    parts = [f"{counts[0]} of {len(rules)} rules hold"]
    parts += [style.bad(f"{counts[1]} broken")] if counts[1] else []
    parts += [style.warn(f"{counts[2]} open")] if counts[2] else []
    return [f"  gate               {', '.join(parts)}", ""]


def _metrics(document: Document, style: Style) -> list[str]:
    if not document.metrics:
        return []
    lines = [style.bold(f"  {'metric':<24}{'value':<10}{'of':<20}worst cell")]
    for name, value in list(document.metrics.items())[:_MOST_ROWS]:
        basis = document.metric_basis.get(name)
        of, worst = "", ""
        if basis is not None and basis.factors:
            of = f"product of {len(basis.factors)}"
        elif basis is not None and basis.denominator is not None:
            of = f"{basis.numerator or 0:,}/{basis.denominator:,}" if basis.denominator else "nothing to measure"
        if basis is not None and basis.worst_cell and value is not None and value < 1:
            worst = fit(basis.worst_cell, 24)
        shown = pad("unknown" if value is None else _share(value), 10)
        marked = style.good(shown) if value == 1 else style.warn(shown) if value is None else style.bad(shown)
        lines.append(f"  {pad(name, 22)}  {marked}{pad(of, 20)}{worst}")
    if len(document.metrics) > _MOST_ROWS:
        lines.append(f"  … and {len(document.metrics) - _MOST_ROWS:,} more in the report")
    return [*lines, ""]


def _share(value: float) -> str:
    """Never 1 unless it is."""
    if value == 1:
        return "1"
    return min(f"{value:.6f}", "0.999999") if 0 <= value < 1 else f"{value:.6g}"


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return "unknown"
    share = "no cells" if rate.rate is None else percent(rate.rate)
    return f"{rate.passed:,}/{rate.total:,} ({share})"


def _slices(document: Document) -> list[str]:
    """The rate of all cells and of each slice, with their intervals."""
    statistics = document.statistics
    lines = [f"  {'slice':<28}{'passed':<18}95% interval"]
    rows = [("all cells", document.overall, statistics.whole if statistics else None)]
    if len(document.by_slice) > 1:
        estimates = statistics.slices if statistics else {}
        rows += [(name, rate, estimates.get(name)) for name, rate in document.by_slice.items()]
    for name, rate, estimate in rows[:_MOST_ROWS]:
        shown = interval_text(estimate.interval if estimate else None)
        lines.append(f"  {pad(name, 26)}  {pad(_rate(rate), 16)}  {fit(shown, WIDTH - 48)}")
    if len(rows) > _MOST_ROWS:
        lines.append(f"  … and {len(rows) - _MOST_ROWS:,} more in the report")
    return [*lines, ""]


def _failures(document: Document, style: Style) -> list[str]:
    if not document.failure_counts:
        return []
    counts = sorted(document.failure_counts.items(), key=lambda row: (-row[1], row[0]))
    rows = []
    for code, count in counts[:_MOST_ROWS]:
        line = f"  {count:>6,}  {fit(code, 60)}"
        meaning = one_line(document.reason_codes.get(code, ""), 4 * WIDTH)
        if text_width(line) + 2 + text_width(meaning) <= WIDTH:
            rows.append(f"{line}  {fit(meaning, WIDTH)}")
        else:
            rows += [line, *(f"{'':<12}{text}" for text in cut_lines(meaning, WIDTH - 12, 3))]
    if len(counts) > _MOST_ROWS:
        rows.append(f"  … and {len(counts) - _MOST_ROWS:,} more in the report")
    return [style.bold("   cells  reason"), *rows, ""]


def _cells(document: Document, style: Style) -> list[str]:
    """The worst cells, each with its first findings."""
    failed = sum(not cell.passed for cell in document.cells)
    if not failed:
        return []
    lines = [style.bold("  worst first")]
    for cell in worst_cells(document.cells, _MOST_CELLS):
        lines.append(f"  {fit(cell.name, 50)}  {str(cell.end).replace('_', ' ')}")
        if cell.detail:
            lines += [f"    {line}" for line in cut_lines(cell.detail, WIDTH - 4, 2)]
        for finding in sorted_findings(cell.findings)[:_MOST_FINDINGS]:
            lines += finding_lines(finding, {}, style, meanings=document.reason_codes)
        if len(cell.findings) > _MOST_FINDINGS:
            lines.append(f"    … and {counted(len(cell.findings) - _MOST_FINDINGS, 'more finding')}")
    if failed > _MOST_CELLS:
        lines.append(f"  … and {counted(failed - _MOST_CELLS, 'more cell')} that did not pass")
    return [*lines, ""]


def _usage(usage: Usage) -> str:
    tokens = "tokens unknown" if usage.tokens is None else f"{usage.tokens:,} tokens"
    claimed = ""
    if usage.claimed is not None:
        count = "an unknown number" if usage.claimed.tokens is None else f"{usage.claimed.tokens:,}"
        claimed = f"; the agent claims {count}"
    retries = f", {counted(usage.retries, 'retry', 'retries')}" if usage.retries else ""
    return f"{tokens}{claimed}; {counted(usage.attempts, 'attempt')}{retries}"


def _foot(document: Document, folder: str, style: Style) -> list[str]:
    lines = []
    if document.run is not None:
        lines.append(f"  do-nothing floor   {_rate(document.do_nothing_floor)}")
    if document.isolation is not None:
        first, *rest = cut_lines(f"{document.isolation.tier}: {document.isolation.claim}", WIDTH - 21, 4)
        lines += [f"  isolation          {first}", *(f"{'':<21}{line}" for line in rest)]
    if document.usage is not None:
        lines.append(f"  usage              {_usage(document.usage)}")
    if document.run is not None:
        lines += [
            f"  report             {visible(folder)}/report.html",
            f"  look closer        {style.bold(f'proctor show {visible(folder)}')}",
            f"  check the record   proctor verify {visible(folder)}",
        ]
    return [*lines, ""]
