"""One CSV file read once in blocks, and single rows of it looked up again later. Edge.

A file that is not plainly regular (a quotation mark inside an unquoted cell, say) is first rewritten by the strict
reader, which also names the place of every fault, into a regular one. Left out: comparing tables.
"""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import stat
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from proctor.codec.csv_strict import iter_csv
from proctor.errors import InputError, Place
from proctor.score._csv_blocks import BlockRows, hash_cells, read_block
from proctor.score._row_records import RowRecords
from proctor.score._segments import I64, PADDING, U64, SegmentHash

__all__ = ["CsvTable", "Scan", "open_table"]

_BLOCK_BYTES = 512 * 1024
_SPAN_BYTES = 4 * 1024 * 1024
_GAP_BYTES = 32 * 1024
_LARGE_ROW_BYTES = 131_072
"""A row this long may hold a cell above the strict reader's limit, so that reader decides."""
_LARGEST_BLOCK_BYTES = 1024 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What one pass gives: data rows, those with an empty or absent id, a digest of the ids from top to bottom."""

    rows: int
    blank: int
    sequence: bytes


def open_table(path: Path, folder: Path) -> CsvTable:
    """Open a file and read its header; a pipe is copied into ``folder`` first. Raises ``InputError``."""
    name = str(path)
    try:
        stream: BinaryIO = path.open("rb", buffering=0)
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            with stream:
                copy = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - the table closes it
                shutil.copyfileobj(stream, copy)
            stream = copy
    except OSError as error:
        raise InputError(
            f"can't read the file: {error.strerror}",
            place=Place(name),
            expected="a readable CSV file",
            fix="check the path and its permissions",
        ) from error
    return CsvTable(name, stream, folder)


class CsvTable:
    """An open file with a header row. Close it after use."""

    def __init__(self, name: str, stream: BinaryIO, folder: Path) -> None:
        self.name = name
        self._stream = stream
        self._folder = folder
        self._is_rewritten = False
        try:
            with self._reopened() as reading, closing(iter_csv(reading, file=name)) as rows:
                self.columns = tuple(next(rows, (1, []))[1])
        except InputError:
            stream.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def scan(self, column: int, hasher: SegmentHash, records: RowRecords) -> Scan:
        """Read the whole file; ``records`` get every row whose id (in ``column``) is not empty.

        Raises ``InputError`` with file and line for what the strict reader refuses.
        """
        before = self._state()
        scan = self._scan(column, hasher, records)
        if scan is None:
            records.clear()
            self._rewrite()
            scan = self._scan(column, hasher, records)
        elif self._state() != before:
            scan = None
        if scan is None:
            raise self._changed()
        return scan

    def _scan(self, column: int, hasher: SegmentHash, records: RowRecords) -> Scan | None:
        buffer = bytearray(_BLOCK_BYTES + PADDING)
        offset = len(_BOM) if self._read(0, len(_BOM)) == _BOM else 0
        rows, blank, filled, is_header, is_last = 0, 0, 0, True, False
        sequence = hashlib.blake2b(digest_size=32)
        largest = _LARGEST_BLOCK_BYTES if self._is_rewritten else _LARGE_ROW_BYTES
        self._stream.seek(offset)
        while not is_last:
            filled, is_last = self._fill(buffer, filled)
            block = read_block(buffer, filled, column, hasher, is_last=is_last, largest_row=largest)
            if block is None:
                return None
            skip = 1 if is_header and len(block.ids) else 0
            is_header = is_header and not skip
            ids = block.ids[skip:]
            sequence.update(ids.tobytes())
            has_id = ids != 0
            rows += len(ids)
            blank += len(ids) - int(np.count_nonzero(has_id))
            records.add(_as_records(block, skip, offset)[has_id])
            rest = filled - block.consumed
            view = memoryview(buffer)
            view[:rest] = view[block.consumed : filled]
            offset, filled = offset + block.consumed, rest
            if not block.consumed and rest == len(buffer) - PADDING:
                if len(buffer) > _LARGEST_BLOCK_BYTES or (rest > 2 * largest):
                    return None
                buffer = buffer[:rest] + bytes(rest + PADDING)
        return Scan(rows=rows, blank=blank, sequence=sequence.digest())

    def _fill(self, buffer: bytearray, filled: int) -> tuple[int, bool]:
        """Fill the buffer up to its padding; whether the file ended."""
        view = memoryview(buffer)[: len(buffer) - PADDING]
        while filled < len(view):
            got = self._stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not got:
                return filled, True
            filled += got
        return filled, False

    def hash_rows(self, offsets: I64, lengths: I64, columns: list[int], hasher: SegmentHash) -> U64:
        """Hashes of the cells in ``columns``, shape (rows, columns), of rows sorted by where they are."""
        result = np.empty((len(offsets), len(columns)), dtype=np.uint64)
        ends = offsets + lengths
        is_far = (offsets[1:] - ends[:-1] > _GAP_BYTES) | (np.diff(offsets // _SPAN_BYTES) != 0)
        cuts = [0, *(np.flatnonzero(is_far) + 1).tolist(), len(offsets)]
        lines: list[bytes] = []
        done = pending = 0
        for low, high in pairwise(cuts):
            base = int(offsets[low])
            text = self._read_exactly(base, int(ends[high - 1]) - base)
            starts = (offsets[low:high] - base).tolist()
            stops = (ends[low:high] - base).tolist()
            lines += [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
            pending += stops[-1]
            if lines and (pending > _SPAN_BYTES or high == len(offsets)):
                cells = hash_cells(lines, columns, hasher)
                if cells is None:
                    raise self._changed()
                result[done : done + len(lines)] = cells
                done, pending, lines = done + len(lines), 0, []
        return result

    def _rewrite(self) -> None:
        """Replace the stream by a regular copy: every cell quoted, a line feed after each row."""
        with ExitStack() as stack:
            copy: BinaryIO = stack.enter_context(tempfile.TemporaryFile(dir=self._folder, buffering=0))
            with open(os.dup(copy.fileno()), "w", encoding="utf-8", newline="", buffering=1 << 20) as text:  # noqa: PTH123
                writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
                with self._reopened() as reading:
                    writer.writerows(cells for _, cells in iter_csv(reading, file=self.name))
            stack.pop_all()
        self._stream.close()
        self._stream, self._is_rewritten = copy, True

    def _reopened(self) -> BinaryIO:
        stream = os.fdopen(os.dup(self._stream.fileno()), "rb")
        stream.seek(0)
        return stream

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._stream.fileno(), size, offset)

    def _read_exactly(self, offset: int, size: int) -> bytes:
        data = self._read(offset, size)
        if len(data) != size:
            raise self._changed()
        return data

    def _state(self) -> tuple[int, int]:
        status = os.fstat(self._stream.fileno())
        return status.st_size, status.st_mtime_ns

    def _changed(self) -> InputError:
        return InputError(
            "the file changed while it was read",
            place=Place(self.name),
            expected="a file that nothing writes to",
            fix="wait until its writer is done, or score a copy",
        )


def _as_records(block: BlockRows, skip: int, offset: int) -> U64:
    records = np.empty((len(block.ids) - skip, 4), dtype=np.uint64)
    records[:, 0] = block.ids[skip:]
    records[:, 1] = block.rows[skip:]
    records[:, 2] = block.starts[skip:] + offset
    records[:, 3] = block.lengths[skip:]
    return records
