"""The report's cells as CSV, one row a cell: for spreadsheets, and for tools that read outcomes. Pure.

RFC 4180, UTF-8. A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers,
and what is unknown is empty. Unprintable characters are escaped visibly.
"""

from __future__ import annotations

import csv
import io

from proctor.report.document import Cell, Document
from proctor.report.values import one_line
from proctor.report.worst import sorted_findings

__all__ = ["render_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what spreadsheets take for a formula
_COLUMNS = ("case", "run", "slice", "group", "outcome", "passed", "codes", "critical", "detail", "attempts", "ended")
_USAGE = ("calls", "seconds", "tokens", "usd")
_FINDING = ("findings", "first_code", "first_cycle", "first_steps", "first_detail", "first_expected", "first_found")
_TEXT = 1_000


def render_csv(document: Document) -> str:
    """All cells in the plan's order, lines ending in CR LF. Metrics have a column each, ``metric.NAME``."""
    names = sorted({name for cell in document.cells for name in cell.metrics})
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([*_COLUMNS, *_USAGE, *_FINDING, *(_safe(f"metric.{name}") for name in names)])
    for cell in document.cells:
        writer.writerow([*_facts(cell), *_finding(cell), *(_number(cell.metrics.get(name)) for name in names)])
    return stream.getvalue()


def _facts(cell: Cell) -> list[str]:
    usage = cell.usage
    return [
        _safe(cell.case_id),
        str(cell.run),
        _safe(cell.slice),
        _safe(cell.group),
        str(cell.end),
        str(cell.passed).lower(),
        _safe(" ".join(cell.failures)),
        _safe(" ".join(cell.critical)),
        _safe(cell.detail),
        _number(cell.attempts),
        _safe(" ".join(cell.ended)),
        *(_number(value) for value in (usage.calls, usage.seconds, usage.tokens, usage.usd)),
    ]


def _finding(cell: Cell) -> list[str]:
    if not cell.findings:
        return ["0", *[""] * (len(_FINDING) - 1)]
    first = sorted_findings(cell.findings)[0]
    return [
        str(len(cell.findings)),
        _safe(first.code),
        str(first.cycle) if first.cycle else "",
        _safe(" ".join(map(str, first.steps[:20]))),
        _safe(first.detail),
        "" if first.expected is None else _safe(first.expected),
        "" if first.found is None else _safe(first.found),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _safe(value: object) -> str:
    """A text that is only ever a text."""
    shown = one_line(value, _TEXT)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
