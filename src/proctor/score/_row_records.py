"""Small fixed-size records of table rows, divided by id, in memory or, when there are many, in temporary files. Edge.

A record is four 64-bit numbers: hash of the id, hash of the row's bytes, offset and length of the row in its file.
Since an id is always in the same part, two tables can be compared part by part, each small enough for the
processor's cache. Left out: what the records mean.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from proctor.score._segments import U64

__all__ = ["ID", "LENGTH", "OFFSET", "PARTS", "ROW", "RowRecords"]

ID, ROW, OFFSET, LENGTH = range(4)
_PART_BITS = 6
PARTS = 2**_PART_BITS
"""Into how many parts records are divided."""
_SHIFT = np.uint64(64 - _PART_BITS)
_PARTS = np.arange(PARTS, dtype=np.uint8)


class RowRecords:
    """The rows of one table; ``keep_rows`` of them stay in memory, more go to files in ``folder``."""

    def __init__(self, folder: Path, name: str, keep_rows: int) -> None:
        self._folder, self._name, self._keep_rows = folder, name, keep_rows
        self._parts: list[IO[bytes]] = [io.BytesIO() for _ in range(PARTS)]
        self._rows = 0
        self.is_on_disk = False

    def add(self, block: U64) -> None:
        """Append records, an array of shape (n, 4), which follow the earlier ones in the table."""
        self._rows += len(block)
        if self._rows > self._keep_rows and not self.is_on_disk:
            self._move_to_disk()
        part = (block[:, ID] >> _SHIFT).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        data = block[order].tobytes()
        stops = (np.searchsorted(part[order], _PARTS, side="right") * (len(data) // max(1, len(block)))).tolist()
        start = 0
        for file, stop in zip(self._parts, stops, strict=True):
            file.write(data[start:stop])
            start = stop

    def clear(self) -> None:
        """Forget all records."""
        self._rows = 0
        for file in self._parts:
            file.seek(0)
            file.truncate()

    def _move_to_disk(self) -> None:
        self.is_on_disk = True
        for part, kept in enumerate(self._parts):
            file = (self._folder / f"{self._name}.{part}").open("w+b", buffering=1 << 16)
            self._parts[part] = file
            kept.seek(0)
            file.write(kept.read())

    def parts(self) -> Iterator[U64]:
        """All records once, part by part; in the table's order within each."""
        for file in self._parts:
            file.seek(0)
            yield np.frombuffer(file.read(), dtype=np.uint64).reshape(-1, 4)

    def close(self) -> None:
        """Let go of memory and files."""
        for file in self._parts:
            file.close()
