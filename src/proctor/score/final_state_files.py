"""Score a final state from two CSV files. Edge: reads the files, and keeps temporary ones when they are large.

Each file is read once into small records; rows that are byte for byte alike need no further look, and the cells of
the others are compared in a second look at just those rows. Time grows linearly, memory has a ceiling. Left out:
what the figures mean (``final_state``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proctor.errors import InfrastructureError, InputError, Place
from proctor.score._csv_table import CsvTable, open_table
from proctor.score._row_records import ID, LENGTH, OFFSET, ROW, RowRecords
from proctor.score._segments import I64, U64, SegmentHash
from proctor.score.final_state import FinalState, TableCounts, score_counts

__all__ = ["score_final_state"]

_ID_COLUMN = "file_id"
_KEEP_ROWS = 1_500_000
"""Rows of a table whose records stay in memory (32 bytes each); with more, they go to disk."""
_LOOK_UP_ROWS = 100_000
_ALLOCATOR_HINT_BYTES = 31 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """Which columns are compared: positions in the expected table, and in the candidate's (None: not there)."""

    expected_id: int
    candidate_id: int
    expected: tuple[int, ...]
    candidate: tuple[int | None, ...]
    is_same_header: bool


def score_final_state(
    expected: str | Path,
    candidate: str | Path,
    *,
    seed: Callable[[int], bytes] = os.urandom,
    keep_rows: int = _KEEP_ROWS,
) -> FinalState:
    """Compare CANDIDATE with EXPECTED, both CSV files with a ``file_id`` column.

    ``seed`` gives the bytes of the key under which rows are hashed; no figure depends on it. ``keep_rows``: above
    it, records go to temporary files. Raises ``InputError`` with file, line and column when a file can't be read.
    """
    _settle_allocator()
    try:
        return _score(expected, candidate, seed(32), keep_rows)
    except OSError as error:
        raise InfrastructureError(
            f"reading or keeping temporary files failed: {error.strerror}",
            expected="readable files, and room for temporary ones",
            fix="free some space, or point TMPDIR at a larger disk",
        ) from error


def _score(expected: str | Path, candidate: str | Path, seed: bytes, keep_rows: int) -> FinalState:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-")))
        tables = [stack.enter_context(closing(open_table(Path(path), folder))) for path in (expected, candidate)]
        shape = _shape(*tables)
        hasher = SegmentHash(seed)
        records = [
            stack.enter_context(closing(RowRecords(folder, name, keep_rows))) for name in ("expected", "candidate")
        ]
        columns = (shape.expected_id, shape.candidate_id)
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(CsvTable.scan, tables, columns, [hasher] * 2, records)
        comparison = _Comparison(tables, shape, hasher)
        for left, right in zip(records[0].parts(), records[1].parts(), strict=True):
            comparison.add(left, right)
        comparison.finish()
    return score_counts(
        TableCounts(rows=first.rows, blank=first.blank, ids=comparison.expected_ids),
        TableCounts(rows=second.rows, blank=second.blank, ids=comparison.candidate_ids),
        shared_ids=comparison.shared_ids,
        fields_correct=comparison.fields_correct,
        fields_total=comparison.expected_ids * len(shape.expected),
        is_same_sequence=first.sequence == second.sequence and first.rows == second.rows,
    )


def _settle_allocator() -> None:
    """Free one large, untouched piece of memory.

    glibc then keeps freed memory below that size for the next block instead of returning it to the kernel and
    faulting it in again (its dynamic mmap threshold, see mallopt(3)); this saves a third of the time. Elsewhere it
    does nothing.
    """
    np.empty(_ALLOCATOR_HINT_BYTES, dtype=np.uint8)


def _shape(expected: CsvTable, candidate: CsvTable) -> _Shape:
    for table in (expected, candidate):
        if _ID_COLUMN not in table.columns:
            raise InputError(
                f"there is no {_ID_COLUMN} column",
                place=Place(table.name, 1, _ID_COLUMN),
                expected=f"a header row with a column named {_ID_COLUMN}",
                found="columns " + ", ".join(table.columns) if any(table.columns) else "no header row",
                fix="name the id column so, or give the right file",
                code="header",
            )
        for name in table.columns:
            if table.columns.count(name) > 1 and name in expected.columns:
                raise InputError(
                    "a column name stands twice in the header",
                    place=Place(table.name, 1, name or "the column without a name"),
                    expected="each name once",
                    found=f'"{name}" {table.columns.count(name)} times',
                    fix="rename or remove one of them",
                    code="header",
                )
    where = {name: position for position, name in enumerate(candidate.columns)}
    fields = [name for name in expected.columns if name != _ID_COLUMN]
    return _Shape(
        expected_id=expected.columns.index(_ID_COLUMN),
        candidate_id=where[_ID_COLUMN],
        expected=tuple(map(expected.columns.index, fields)),
        candidate=tuple(map(where.get, fields)),
        is_same_header=expected.columns == candidate.columns,
    )


class _Comparison:
    """Sums over the parts of two tables; the same id is never in two parts."""

    def __init__(self, tables: list[CsvTable], shape: _Shape, hasher: SegmentHash) -> None:
        self._expected, self._candidate = tables
        self._shape, self._hasher = shape, hasher
        self._unlike: list[tuple[U64, U64]] = []
        self._unlike_rows = 0
        self.expected_ids = self.candidate_ids = self.shared_ids = self.fields_correct = 0

    def add(self, left: U64, right: U64) -> None:
        """Add one part: records of expected and of candidate rows."""
        left_ids, left_at = _last_rows(left)
        right_ids, right_at = _last_rows(right)
        self.expected_ids += len(left_ids)
        self.candidate_ids += len(right_ids)
        if not len(left_ids) or not len(right_ids):
            return
        found = np.minimum(np.searchsorted(right_ids, left_ids), len(right_ids) - 1)
        is_shared = right_ids[found] == left_ids
        left_at, right_at = left_at[is_shared], right_at[found[is_shared]]
        self.shared_ids += len(left_at)
        if self._shape.is_same_header:
            differs = left[left_at, ROW] != right[right_at, ROW]
            self.fields_correct += int(len(differs) - np.count_nonzero(differs)) * len(self._shape.expected)
            left_at, right_at = left_at[differs], right_at[differs]
        if len(left_at) and self._shape.expected:
            self._unlike.append((left[left_at], right[right_at]))
            self._unlike_rows += len(left_at)
            if self._unlike_rows > _LOOK_UP_ROWS:
                self.finish()

    def finish(self) -> None:
        """Look up the cells of the paired rows whose bytes differ; absent equals absent alone."""
        if not self._unlike:
            return
        left, right = (np.concatenate(side) for side in zip(*self._unlike, strict=True))
        self._unlike, self._unlike_rows = [], 0
        there = [position for position, column in enumerate(self._shape.candidate) if column is not None]
        wanted = [column for column in self._shape.candidate if column is not None]
        mine = _cells(self._expected, left, list(self._shape.expected), self._hasher)
        theirs = np.zeros_like(mine)
        theirs[:, there] = _cells(self._candidate, right, wanted, self._hasher)
        self.fields_correct += int(np.count_nonzero(mine == theirs))


def _last_rows(records: U64) -> tuple[U64, I64]:
    """The distinct ids in order, and where in ``records`` the last row of each is."""
    ids = np.ascontiguousarray(records[:, ID])
    order = np.argsort(ids)
    by_id = ids[order]
    is_last = np.ones(len(ids), dtype=np.bool_)
    np.not_equal(by_id[1:], by_id[:-1], out=is_last[:-1])
    if is_last.all():
        return by_id, order
    return by_id[is_last], np.argsort(ids, kind="stable")[is_last]


def _cells(table: CsvTable, records: U64, columns: list[int], hasher: SegmentHash) -> U64:
    order = np.argsort(records[:, OFFSET])
    offsets: I64 = records[order, OFFSET].astype(np.int64)
    lengths: I64 = records[order, LENGTH].astype(np.int64)
    cells = np.empty((len(records), len(columns)), dtype=np.uint64)
    cells[order] = table.hash_rows(offsets, lengths, columns, hasher)
    return cells
