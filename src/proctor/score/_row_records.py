"""Small fixed-size records of table rows, kept in memory or, when there are many, in temporary files. Edge.

A record is four 64-bit numbers: hash of the id, hash of the row's bytes, offset and length of the row in its file.
On disk they are divided by id, so that two tables can be compared part by part. Left out: what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from proctor.score._segments import U64

__all__ = ["ID", "LENGTH", "OFFSET", "PARTS", "ROW", "RowRecords"]

ID, ROW, OFFSET, LENGTH = range(4)
PARTS = 64
"""Into how many parts records are divided once they no longer stay in memory."""


class RowRecords:
    """The rows of one table, in file order; ``keep_rows`` of them stay in memory, more go to files in ``folder``."""

    def __init__(self, folder: Path, name: str, keep_rows: int) -> None:
        self._folder, self._name, self._keep_rows = folder, name, keep_rows
        self._blocks: list[U64] = []
        self._files: list[IO[bytes]] = []
        self._rows = 0

    @property
    def is_divided(self) -> bool:
        """Whether the records are on disk."""
        return bool(self._files)

    def add(self, block: U64) -> None:
        """Append records, an array of shape (n, 4), which follow the earlier ones in the file."""
        self._rows += len(block)
        if self._files:
            self._write(block)
            return
        self._blocks.append(block)
        if self._rows > self._keep_rows:
            self.divide()

    def clear(self) -> None:
        """Forget all records."""
        self._blocks, self._rows = [], 0
        for file in self._files:
            file.seek(0)
            file.truncate()

    def divide(self) -> None:
        """Move everything to disk, and what follows as well."""
        if not self._files:
            paths = (self._folder / f"{self._name}.{part}" for part in range(PARTS))
            self._files = [path.open("w+b", buffering=1 << 16) for path in paths]
        blocks, self._blocks = self._blocks, []
        for block in blocks:
            self._write(block)

    def _write(self, block: U64) -> None:
        part = (block[:, ID] % np.uint64(PARTS)).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        block = block[order]
        stops = np.searchsorted(part[order], np.arange(PARTS), side="right").tolist()
        start = 0
        for file, stop in zip(self._files, stops, strict=True):
            file.write(block[start:stop].tobytes())
            start = stop

    def parts(self) -> Iterator[U64]:
        """All records once: one array, or ``PARTS`` of them when divided; in file order within each."""
        if not self._files:
            blocks, self._blocks = self._blocks, []
            yield np.concatenate(blocks) if blocks else np.empty((0, 4), dtype=np.uint64)
            return
        for file in self._files:
            file.seek(0)
            yield np.frombuffer(file.read(), dtype=np.uint64).reshape(-1, 4)

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()
