"""The cases of a recorded evaluation as columns: the plan that every denominator comes from. Pure.

Rows come in as values; each is checked against the suite. Left out: reading files, results.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec

from proctor.codec.python_json import python_json, quote
from proctor.codec.text_count import text_counter
from proctor.errors import InvalidEvaluation, Place
from proctor.grade.records import CaseKey, RecordProgram
from proctor.score.record_faults import WHOLE_ROW, check_plain, parse_strictly
from proctor.suite.record_types import has_no_blank_text

__all__ = ["CaseTable", "CaseTableBuilder"]

_encode = msgspec.json.Encoder().encode
_BATCH = 512
_MOST_SHARED = 100_000


class CaseTable(msgspec.Struct, frozen=True, kw_only=True):
    """Cases in dataset order. ``position`` finds a case by id; ``slices`` index ``slice_names``; ``keys`` are what
    judges each case. ``sha256`` is over Python's ``json.dumps(rows, sort_keys=True, ensure_ascii=False)``. ``rows``
    are kept only where a custom grader needs them."""

    ids: list[str]
    position: dict[str, int]
    slice_names: tuple[str, ...]
    slices: Any
    keys: list[CaseKey]
    sha256: str
    rows: list[Mapping[str, Any]]


@dataclass(slots=True)
class _Asked:
    """What many cases have in common: what they ask, as it is judged and as it is written before the id. ``agreed``
    are the inputs for which it was found to be what policy and contract say."""

    key: CaseKey
    text: str
    agreed: set[Any] = field(default_factory=set)


class CaseTableBuilder:
    """Takes a dataset row by row. Raises ``InvalidEvaluation`` at the first row that can't be used."""

    def __init__(self, program: RecordProgram, name: str | None) -> None:
        self._program, self._name = program, name
        self._names = tuple(sorted(program.spec.slices))
        self._codes = {slice_name: code for code, slice_name in enumerate(self._names)}
        version = quote(program.spec.version)
        self._ends = [f', "slice": {quote(name)}, "version": {version}}}' for name in self._names]
        self._policy_input = program.policy_input
        self._parts = [name for name in ("allowed", "budget", "expected") if name in program.types.case_keys]
        self._get_parts = attrgetter(*self._parts)
        self._ids: list[str] = []
        self._position: dict[str, int] = {}
        self._slices = array("H")
        self._keys: list[CaseKey] = []
        self._shared: dict[bytes, _Asked] = {}
        self._rows: list[Mapping[str, Any]] = []
        self._digest = hashlib.sha256(b"[")
        self._texts: list[str] = []
        self._hashed = False

    def take_lines(self, lines: Iterable[bytes]) -> None:
        """Rows as lines of JSONL, with or without their ends."""
        read = self._reader()
        keep_values = bool(self._program.custom)
        for number, raw in enumerate(lines, 1):
            row = read(raw)
            value: Any = None
            if row is None:
                value = parse_strictly(raw, self._name, number)
                row = self._program.case(value, partial(self._at, number))
            elif keep_values:
                value = msgspec.to_builtins(row)
            self._take(row, value, number)

    def _reader(self) -> Callable[[bytes], Any]:
        """The fast reader of lines; None for one that must be read carefully, as where it may be at fault."""
        types = self._program.types
        if not types.is_closed:
            return lambda _: None
        quick = msgspec.json.Decoder(types.quick_case).decode
        careful = msgspec.json.Decoder(types.case).decode
        texts = text_counter(types.case)

        def read(raw: bytes) -> Any:
            if b"\\" in raw:
                return None
            try:
                row = quick(raw) if has_no_blank_text(raw) else careful(raw)
            except (ValueError, RecursionError):
                return None
            # More quotation marks than the typed value needs: a key came twice.
            return row if raw.count(b'"') == 2 * texts(row) else None

        return read

    def take_rows(self, rows: Iterable[Any]) -> None:
        """Rows as values, from a caller's program."""
        for number, value in enumerate(rows, 1):
            at = partial(self._at, number)
            if not isinstance(value, Mapping):
                raise InvalidEvaluation("not an object", place=at(""), expected="a JSON object", found=value)
            check_plain(value, at, finite=True)
            self._take(self._program.case(value, at), value, number)

    def _at(self, line: int, path: str) -> Place:
        return Place(self._name or "dataset", line, path or WHOLE_ROW)

    def _take(self, row: Any, value: Mapping[str, Any] | None, line: int) -> None:
        """A typed row, and its plain value where custom graders will need it."""
        code = self._codes[row.slice]
        asked = self._ask(row, line)
        if self._position.setdefault(row.id, len(self._ids)) != len(self._ids):
            first = self._position[row.id] + 1
            raise InvalidEvaluation(
                "duplicate case",
                place=self._at(line, "id"),
                expected="each id once",
                found=f"{row.id}, also in row {first}",
                fix="remove or rename one of the two",
                code="duplicate_case",
            )
        self._ids.append(row.id)
        self._slices.append(code)
        self._keys.append(asked.key)
        if self._program.custom and value is not None:
            self._rows.append(value)
        self._texts.append(f'{asked.text}"id": {quote(row.id)}, "input": {python_json(row.input)}{self._ends[code]}')
        if len(self._texts) == _BATCH:
            self._hash()

    def _ask(self, row: Any, line: int) -> _Asked:
        """What the row asks, held against policy and contract unless an equal one was before."""
        written = _encode(self._get_parts(row))
        asked = self._shared.get(written)
        if asked is None:
            text = "".join(f'"{name}": {python_json(getattr(row, name))}, ' for name in self._parts)
            asked = _Asked(self._program.key(row), "{" + text)
            if len(self._shared) < _MOST_SHARED:
                self._shared[written] = asked
        looked_at = None if self._policy_input is None else self._policy_input(row.input)
        try:
            agreed = looked_at in asked.agreed
        except TypeError:  # a list is no key of a set
            self._program.check_case(row, partial(self._at, line))
            return asked
        if not agreed:
            self._program.check_case(row, partial(self._at, line))
            if len(asked.agreed) < _MOST_SHARED:
                asked.agreed.add(looked_at)
        return asked

    def _hash(self) -> None:
        if self._texts:
            separator = ", " if self._hashed else ""
            self._digest.update(f"{separator}{', '.join(self._texts)}".encode())
            self._hashed = True
            self._texts.clear()

    def finish(self) -> CaseTable:
        """The table. Raises ``InvalidEvaluation`` for an empty dataset."""
        if not self._ids:
            raise InvalidEvaluation(
                "the dataset is empty",
                place=Place(self._name or "dataset", 1, "id"),
                expected="at least one case",
                fix="name the file that holds the cases",
                code="empty_dataset",
            )
        self._hash()
        self._digest.update(b"]")
        return CaseTable(
            ids=self._ids,
            position=self._position,
            slice_names=self._names,
            slices=self._slices,
            keys=self._keys,
            sha256=self._digest.hexdigest(),
            rows=self._rows,
        )
