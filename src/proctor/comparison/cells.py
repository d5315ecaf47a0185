"""Rows of a table, with known columns, as scored cells. Strict: each fault names file, line and field.
Pure.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeVar

from proctor.comparison.columns import Columns
from proctor.comparison.model import RunLabel, ScoredCell
from proctor.errors import InputError, Place

__all__ = ["cells_of_rows"]

_T = TypeVar("_T")

_TRUE: Final = frozenset({"true", "1", "1.0", "yes", "y", "t", "pass", "passed", "ok", "success", "correct", "c"})
_FALSE: Final = frozenset({"false", "0", "0.0", "no", "n", "f", "fail", "failed", "failure", "incorrect", "i"})
_NULL: Final = frozenset({"", "null", "none", "na", "n/a"})
_UNRESOLVED: Final = frozenset({"infra_error", "infrastructure_error", "infra", "grader_error", "scorer_error"})
_MISSING: Final = frozenset({"missing", "not_run", "skipped"})
_PASSED: Final = frozenset({"passed", "pass"})
_FAILED: Final = frozenset(
    {"failed", "fail", "failure", "agent_error", "limit", "timeout", "withheld", "error", "errored", "crashed"}
)
_MAX_TEXT: Final = 1_000


class _Row:
    """One row at a time, its place, and how to read a field of it. Texts read before are remembered by
    column.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 0
        self.values: Mapping[str, Any] = {}
        self._memory: defaultdict[str, dict[str, Any]] = defaultdict(dict)

    def _read(self, column: str | None, parse: Callable[[str], _T]) -> _T | None:
        """``parse(column)``, or what it gave for the same text in this column."""
        if column is None:
            return None
        value = self.values.get(column)
        if type(value) is not str:
            return parse(column) if value is not None else None
        memory = self._memory[column]
        if value not in memory:
            memory[value] = parse(column)
        found: _T = memory[value]
        return found

    def fault(self, column: str, problem: str, expected: str, found: object, fix: str | None = None) -> NoReturn:
        raise InputError(
            problem, place=Place(self.file, self.line, column), expected=expected, found=found, fix=fix, code="row"
        )

    def raw(self, column: str) -> Any:
        """The value, None for null in any spelling."""
        value = self.values.get(column)
        if isinstance(value, str):
            value = value.strip()
            return None if value.lower() in _NULL else value
        return value

    def text(self, column: str | None) -> str | None:
        return self._read(column, self._text)

    def _text(self, column: str) -> str | None:
        value = self.raw(column)
        if value is None:
            return None
        if isinstance(value, (dict, list)) or (isinstance(value, float) and not value.is_integer()):
            self.fault(column, "not a name", "a text or an integer", value)
        text = str(int(value)) if isinstance(value, float) else str(value)
        if len(text) > _MAX_TEXT:
            self.fault(column, "too long", f"at most {_MAX_TEXT} characters", f"{len(text)} characters")
        return text

    def number(self, column: str | None) -> float | None:
        return self._read(column, self._number)

    def _number(self, column: str) -> float | None:
        value = self.raw(column)
        if value is None:
            return None
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                self.fault(column, "not a number", "a number, or nothing", value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fault(column, "not a number", "a number, or nothing", value)
        if not math.isfinite(value):
            self.fault(column, "non-finite number", "a finite number, or nothing", value)
        return float(value)

    def amount(self, column: str | None) -> float | None:
        value = self.number(column)
        if value is not None and column is not None and not 0 <= value <= 1e12:
            self.fault(column, "no amount", "0 to 10^12, or nothing where it is unknown", value)
        return value

    def run(self, column: str) -> RunLabel:
        text = self.text(column)
        if text is None:
            self.fault(column, "no run", "a number or a name that tells the runs of a case apart", None)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else text

    def passed(self, column: str | None) -> bool | None:
        return self._read(column, self._passed)

    def _passed(self, column: str) -> bool | None:
        value = self.raw(column)
        if value is None:
            return None
        word = str(value).lower()
        if word in _TRUE:
            return True
        if word not in _FALSE:
            self.fault(
                column,
                "neither passed nor failed",
                "true or false, 1 or 0, pass or fail, or nothing where it is unknown",
                value,
                fix="give --score for figures between 0 and 1, or --passed for another column",
            )
        return False


def cells_of_rows(
    rows: Iterable[tuple[int, Mapping[str, Any]]], columns: Columns, file: str, *, pass_at: float | None = None
) -> tuple[list[ScoredCell], list[str]]:
    """Cells of rows given as ``(line, values by column)``, and notes on what was taken for what.

    Without a run column the rows of a case are its runs 1, 2, … in their order. ``pass_at`` turns scores into
    passed and failed. Raises ``InputError`` at the first row that can't be read, or that repeats a case and
    run.
    """
    cells: list[ScoredCell] = []
    seen: dict[tuple[str, RunLabel], int] = {}
    repeats: Counter[str] = Counter()
    words: Counter[str] = Counter()
    row = _Row(file)
    for line, values in rows:
        row.line, row.values = line, values
        case = row.text(columns.case)
        if case is None:
            row.fault(str(columns.case), "no case", "the case's id", None)
        repeats[case] += 1
        run: RunLabel = row.run(columns.run) if columns.run is not None else repeats[case]
        if (first := seen.setdefault((case, run), line)) != line:
            row.fault(
                str(columns.run),
                "a case and run twice",
                "each case and run once",
                f"{case}/{run}, also on line {first}",
                fix="name the column that tells its runs apart with --run, or keep one of the two",
            )
        cells.append(_cell(row, (case, run), columns, pass_at, words))
    notes = [f"{file}: status {word!r} ({n} cells) isn't known" for word, n in sorted(words.items())]
    if columns.run is None and any(n > 1 for n in repeats.values()):
        notes.append(f"{file}: no column of runs; the rows of a case are its runs in their order")
    return cells, notes


def _cell(
    row: _Row, key: tuple[str, RunLabel], columns: Columns, pass_at: float | None, words: Counter[str]
) -> ScoredCell:
    status = (row.text(columns.status) or "").lower().replace(" ", "_").replace("-", "_")
    value = _value(row, columns, pass_at)
    if status in _MISSING and value:
        row.fault(str(columns.status), "a missing cell can't have passed", "no outcome, or another status", status)
    if value is None and status in _PASSED:
        value = 1.0
    elif value is None and status in _FAILED:
        value = 0.0
    elif value is None and status and status not in _UNRESOLVED | _MISSING:
        words[status] += 1
    return ScoredCell(
        case=key[0],
        run=key[1],
        value=value,
        missing=status in _MISSING,
        unresolved=status in _UNRESOLVED,
        slice=row.text(columns.slice),
        group=row.text(columns.group),
        tokens=row.amount(columns.tokens),
        cost_usd=row.amount(columns.cost),
    )


def _value(row: _Row, columns: Columns, pass_at: float | None) -> float | None:
    if columns.passed is not None:
        passed = row.passed(columns.passed)
        return None if passed is None else float(passed)
    score = row.number(columns.score)
    if score is None:
        return None
    if pass_at is not None:
        return float(score >= pass_at)
    if not 0 <= score <= 1:
        row.fault(
            str(columns.score),
            "a score outside 0 to 1",
            "a number between 0 and 1",
            score,
            fix="say from which score on a cell passes with --pass-at",
        )
    return score
