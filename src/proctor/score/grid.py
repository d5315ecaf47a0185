"""The grid: planned cells (case × run), filled with recorded results, each judged to a mask of failure labels. Pure.

The plan fixes the denominator: a cell without a result stays in it as ``missing``. A result's row is read once, by a
reader that its types were compiled into; only what that one doesn't take goes the slow way, which says what is wrong.
Work and memory grow with the cells, never with cells × cases. Left out: files, figures (``score.grid_figures``).
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NoReturn

import msgspec

from proctor.codec.models import nearest
from proctor.codec.text_count import text_counter
from proctor.errors import InvalidEvaluation, Place
from proctor.grade.records import EXECUTION, MISSING, SCHEMA, RecordFinding, RecordProgram
from proctor.score.case_table import CaseTable
from proctor.score.record_faults import WHOLE_ROW, check_plain, parse_strictly
from proctor.suite.record_types import attribute, has_no_blank_text

__all__ = ["MOST_EXPLAINED", "CustomJudge", "ExplainedCell", "Grid", "check_repeats"]

MOST_EXPLAINED: Final = 200
"""How many failing cells are explained: the first in the plan's order, whatever order their results came in."""

MAX_REPEATS: Final = 1000
_BATCH: Final = 256

CustomJudge = Callable[[Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]], Sequence[int]]
"""Judges ``(case row, result row)`` pairs with the suite's own graders: one mask a pair."""


class ExplainedCell(msgspec.Struct, frozen=True, kw_only=True):
    """Why a failing cell fails."""

    case_id: str
    run: int
    findings: tuple[RecordFinding, ...]


def check_repeats(repeats: Any) -> int:
    """``repeats`` if it is an integer from 1 to 1000. Raises ``InvalidEvaluation``."""
    if type(repeats) is not int or not 1 <= repeats <= MAX_REPEATS:
        raise InvalidEvaluation(
            "repeats can't be planned",
            place=Place(field="repeats"),
            expected=f"an integer from 1 to {MAX_REPEATS}",
            found=repeats,
            fix="say how many runs a case were planned",
            code="repeats",
        )
    return repeats


class Grid:
    """All planned cells of a candidate. ``masks`` and each array of ``usage`` are in the order case, then run;
    a usage figure is NaN where it is unknown."""

    def __init__(
        self, program: RecordProgram, cases: CaseTable, candidate: str, repeats: int, custom: CustomJudge | None = None
    ) -> None:
        named: Any = candidate
        if not isinstance(named, str) or not named.strip():
            raise InvalidEvaluation(
                "the candidate has no name", place=Place(field="candidate"), expected="a text", found=candidate
            )
        check_plain(candidate, lambda _: Place(field="candidate"), finite=True)
        self.program, self.cases, self.candidate = program, cases, candidate
        self.repeats = check_repeats(repeats)
        size = len(cases.ids) * repeats
        self.masks = array("I", [MISSING]) * size
        figures = tuple(program.spec.usage)
        self.usage = {name: array("d", [float("nan")]) * size for name in figures}
        self._figures = [(self.usage[name], attrgetter(attribute(name))) for name in figures]
        self._custom = custom
        self._waiting: list[tuple[int, Mapping[str, Any]]] = []
        self._failing: list[tuple[int, bytes | Mapping[str, Any]]] = []

    def take_lines(self, lines: Iterable[bytes], name: str | None) -> int:
        """Results as lines of JSONL; how many there were. Raises ``InvalidEvaluation`` for a row that can't be
        used: what it broke is never scored."""
        row_type = self.program.types.result(self.candidate, self.repeats)
        quick = msgspec.json.Decoder(self.program.types.result(self.candidate, self.repeats, quick=True)).decode
        careful = msgspec.json.Decoder(row_type).decode
        texts = text_counter(row_type)
        position, masks, repeats, keys = self.cases.position, self.masks, self.repeats, self.cases.keys
        plain = not self.program.custom
        number = 0
        for number, raw in enumerate(lines, 1):
            if b"\\" in raw:
                self._slowly(raw, name, number)
                continue
            try:
                row: Any = quick(raw) if has_no_blank_text(raw) else careful(raw)
            except (ValueError, RecursionError):
                self._slowly(raw, name, number)
                continue
            case = position.get(row.case_id)
            # Without escapes, each key and each text has two quotation marks; more of them mean that a key came twice.
            if case is None or raw.count(b'"') != 2 * texts(row):
                self._slowly(raw, name, number)
                continue
            cell = case * repeats + row.run - 1
            if masks[cell] != MISSING:
                self._slowly(raw, name, number)
                continue
            mask = 0 if row.status == "ok" else EXECUTION
            for bit, fails, prepared, _ in keys[case]:
                if fails(row, prepared):
                    mask |= bit
            masks[cell] = mask
            if self._figures:
                usage = row.usage
                for column, get in self._figures:
                    column[cell] = get(usage)
            if mask or not plain:
                self._note(cell, mask, raw, None)
        return number

    def take_rows(self, rows: Iterable[Any], name: str = "results") -> int:
        """Results as values, from a caller's program; how many there were."""
        number = 0
        for number, value in enumerate(rows, 1):
            self._take(value, _at(name, number), checked=False)
        return number

    def finish(self) -> tuple[ExplainedCell, ...]:
        """Nothing more comes: judge what waits, and explain the first failing cells."""
        self._flush()
        explained = []
        for negative, kept in sorted(self._failing, key=lambda item: -item[0]):
            cell = -negative
            value = msgspec.json.decode(kept) if isinstance(kept, bytes) else kept
            case, run = divmod(cell, self.repeats)
            findings = tuple(self.program.explain(value, self.cases.keys[case]))
            own = [label for label in self.program.custom if self.masks[cell] & label.bit]
            findings += tuple(RecordFinding(label=o.name, field="answer", expected=None, found=None) for o in own)
            explained.append(ExplainedCell(case_id=self.cases.ids[case], run=run + 1, findings=findings))
        return tuple(explained)

    def _slowly(self, raw: bytes, name: str | None, number: int) -> None:
        value = parse_strictly(raw, name, number)
        self._take(value, _at(name, number), checked=True)

    def _take(self, value: Any, at: Callable[[str], Place], *, checked: bool) -> None:
        """One result by its parts: its identity must hold; a body of the wrong shape is ``schema``."""
        cell = self._identify(value, at)
        if not checked:
            check_plain(value, at, finite=False)
        row = self.program.body(value)
        case = cell // self.repeats
        mask = SCHEMA if row is None else self.program.mask(row, self.cases.keys[case])
        self.masks[cell] = mask
        if row is not None:
            for column, get in self._figures:
                column[cell] = get(row.usage)
        if mask or self.program.custom:
            self._note(cell, mask, None, value)

    def _identify(self, value: Any, at: Callable[[str], Place]) -> int:
        """The cell that a row belongs to. Raises ``InvalidEvaluation``."""
        if not isinstance(value, Mapping):
            raise InvalidEvaluation("not an object", place=at(""), expected="a JSON object", found=value)
        self._check_envelope(value, at)
        version = self.program.spec.version
        for key, want in (("version", version), ("candidate", self.candidate)):
            if type(value[key]) is not str or value[key] != want:
                _refuse(f"another {key}", at(key), repr(want), value[key], "score only this candidate's own results")
        case_id, run = value["case_id"], value["run"]
        case = self.cases.position.get(case_id) if isinstance(case_id, str) else None
        if case is None:
            near = nearest(case_id, self.cases.ids[:1000]) if isinstance(case_id, str) else None
            _refuse(
                "unknown case",
                at("case_id"),
                "the id of a case of the dataset" + (f", perhaps {near!r}" if near else ""),
                case_id,
                "score it with the dataset that it was made for",
            )
        if type(run) is not int or not 1 <= run <= self.repeats:
            _refuse("run out of plan", at("run"), f"an integer from 1 to {self.repeats}", run, "see --repeats")
        cell = case * self.repeats + run - 1
        if self.masks[cell] != MISSING:
            _refuse(
                "duplicate case/run", at("run"), "each case and run once", f"{case_id}/{run}", "remove one of the two"
            )
        return cell

    def _check_envelope(self, value: Mapping[str, Any], at: Callable[[str], Place]) -> None:
        wanted = self.program.types.result_keys
        if len(value) == len(wanted) and all(key in value for key in wanted):
            return
        unknown = sorted(str(key) for key in value if key not in wanted)
        missing = [key for key in wanted if key not in value]
        what = f"unknown key {unknown[0]!r}" if unknown else f"missing key {missing[0]!r}"
        near = nearest(unknown[0], missing) if unknown else None
        _refuse(
            f"result envelope: {what}",
            at(unknown[0] if unknown else missing[0]),
            f"exactly the keys {', '.join(wanted)}",
            ", ".join(map(str, list(value)[:20])),
            f"did you mean {near!r}?" if near else ("remove the key" if unknown else "add the key"),
        )

    def _note(self, cell: int, mask: int, raw: bytes | None, value: Mapping[str, Any] | None) -> None:
        """Keep what is needed later: a failing row to explain, a row that custom graders must see. A row comes as its
        line or as a value."""
        if self.program.custom and mask & SCHEMA == 0:
            self._waiting.append((cell, msgspec.json.decode(raw or b"") if value is None else value))
            if len(self._waiting) >= _BATCH:
                self._flush()
        elif mask:
            self._keep(cell, raw if value is None else value)

    def _keep(self, cell: int, row: Any) -> None:
        if len(self._failing) < MOST_EXPLAINED:
            heapq.heappush(self._failing, (-cell, row))
        elif -cell > self._failing[0][0]:
            heapq.heapreplace(self._failing, (-cell, row))

    def _flush(self) -> None:
        if not self._waiting or self._custom is None:
            return
        pairs = [(self.cases.rows[cell // self.repeats], value) for cell, value in self._waiting]
        for (cell, value), mask in zip(self._waiting, self._custom(pairs), strict=True):
            self.masks[cell] |= mask
            if self.masks[cell]:
                self._keep(cell, value)
        self._waiting.clear()


def _at(name: str | None, line: int) -> Callable[[str], Place]:
    return lambda field: Place(name, line, field or WHOLE_ROW)


def _refuse(problem: str, place: Place, expected: str, found: Any, fix: str) -> NoReturn:
    raise InvalidEvaluation(problem, place=place, expected=expected, found=found, fix=fix, code="result_row")
