"""A log as static files: 256-wide tiles of hashes and bundles of entries (C2SP tlog-tiles). Pure.

``tile/<L>/<NNN>[.p/W]`` holds hashes of level ``8·L``; ``tile/entries/<NNN>[.p/W]`` holds entries, each after
its length in two bytes. ``Tree`` grows by one hash at a time and gives root and tiles at any size.
Left out: reading and writing the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from proctor.errors import EvidenceError, Place
from proctor.ledger.merkle import EMPTY_ROOT, HASH_BYTES, fold

__all__ = [
    "ENTRY_LIMIT_BYTES",
    "WIDTH",
    "Tree",
    "bundle_path",
    "bundle_paths",
    "pack_bundle",
    "tile_path",
    "tile_paths",
    "unpack_bundle",
]

WIDTH: Final = 256
ENTRY_LIMIT_BYTES: Final = 65_535


def tile_path(level: int, index: int, width: int = WIDTH) -> str:
    """Path of a hash tile inside the log's folder; ``width`` below 256 makes it a partial one."""
    return f"tile/{level}/{_number(index)}{_partial(width)}"


def bundle_path(index: int, width: int = WIDTH) -> str:
    """Path of an entry bundle inside the log's folder."""
    return f"tile/entries/{_number(index)}{_partial(width)}"


def _number(index: int) -> str:
    parts = [f"{index % 1000:03d}"]
    while index := index // 1000:
        parts.append(f"x{index % 1000:03d}")
    return "/".join(reversed(parts))


def _partial(width: int) -> str:
    return "" if width == WIDTH else f".p/{width}"


def _widths(count: int) -> Iterator[tuple[int, int]]:
    """``(index, width)`` of the tiles that ``count`` hashes fill."""
    for index in range(count // WIDTH):
        yield index, WIDTH
    if count % WIDTH:
        yield count // WIDTH, count % WIDTH


def bundle_paths(size: int) -> Iterator[tuple[str, int]]:
    """Path and number of entries of every bundle of a log with ``size`` entries, in order."""
    for index, width in _widths(size):
        yield bundle_path(index, width), width


def tile_paths(size: int) -> Iterator[tuple[str, int]]:
    """Path and number of hashes of every tile of a log with ``size`` entries, level by level."""
    level, count = 0, size
    while count:
        for index, width in _widths(count):
            yield tile_path(level, index, width), width
        level, count = level + 1, count // WIDTH


def pack_bundle(entries: Sequence[bytes]) -> bytes:
    """An entry bundle: each entry after its length in two big-endian bytes."""
    return b"".join([part for entry in entries for part in (len(entry).to_bytes(2, "big"), entry)])


def unpack_bundle(data: bytes, count: int, *, file: str | None = None) -> list[bytes]:
    """The ``count`` entries of a bundle. Raises ``EvidenceError`` where there are more, fewer, or a cut
    one.
    """
    entries: list[bytes] = []
    at = 0
    try:
        for _ in range(count):
            start = at + 2
            at = start + (data[at] << 8) + data[at + 1]
            entries.append(data[start:at])
    except IndexError:
        at = len(data) + 1
    if at > len(data):
        whole = len(entries) - 1
        raise EvidenceError(
            "the entry bundle is cut short",
            place=Place(file, field=f"entry {max(whole, 0)} of the bundle"),
            expected=f"{count} entries",
            found=f"{len(data)} bytes",
            code="bundle_cut",
        )
    if at != len(data):
        raise EvidenceError(
            "bytes follow the last entry of the bundle",
            place=Place(file, field=f"byte {at}"),
            expected=f"{at} bytes",
            found=f"{len(data)} bytes",
            code="bundle_long",
        )
    return entries


class Tree:
    """A growing Merkle tree that keeps what tiles need: full tiles, and the hashes since, at every level."""

    __slots__ = ("_full", "_open")

    def __init__(self) -> None:
        self._open: list[list[bytes]] = [[]]
        self._full: list[list[bytes]] = [[]]

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self._full[0]) * WIDTH + len(self._open[0])

    def add(self, leaf: bytes) -> None:
        """One more leaf hash."""
        row = self._open[0]
        row.append(leaf)
        if len(row) == WIDTH:
            self._roll(0)

    def extend(self, leaves: Sequence[bytes]) -> None:
        """More leaf hashes, in order."""
        at = 0
        while at < len(leaves):
            row = self._open[0]
            room = WIDTH - len(row)
            row.extend(leaves[at : at + room])
            at += room
            if len(row) == WIDTH:
                self._roll(0)

    def _roll(self, level: int) -> None:
        """A tile is full: keep it and hand its root to the level above."""
        row = self._open[level]
        self._full[level].append(b"".join(row))
        self._open[level] = []
        if level + 1 == len(self._open):
            self._open.append([])
            self._full.append([])
        above = self._open[level + 1]
        above.append(fold(row))
        if len(above) == WIDTH:
            self._roll(level + 1)

    def root(self) -> bytes:
        """Root over all leaves so far."""
        rest: bytes | None = None
        for row in self._open:
            parts = row if rest is None else [*row, rest]
            if parts:
                rest = fold(parts)
        return EMPTY_ROOT if rest is None else rest

    def leaf(self, index: int) -> bytes:
        """Hash of a leaf."""
        tile, slot = divmod(index, WIDTH)
        if tile == len(self._full[0]):
            return self._open[0][slot]
        return self._full[0][tile][slot * HASH_BYTES : (slot + 1) * HASH_BYTES]

    def subtree(self, start: int, end: int) -> bytes:
        """Root over the leaves ``start`` ≤ i < ``end``, for proofs; ``start`` is a multiple of the span's
        size.
        """
        step, level = 1, 0
        while start % (step * WIDTH) == 0 and end - start >= step * WIDTH and level + 1 < len(self._open):
            step, level = step * WIDTH, level + 1
        whole = (end - start) // step
        hashes = [self._hash(level, start // step + i) for i in range(whole)]
        rest = start + whole * step
        if rest < end:
            hashes.append(self.subtree(rest, end))
        return fold(hashes)

    def _hash(self, level: int, index: int) -> bytes:
        tile, slot = divmod(index, WIDTH)
        if tile == len(self._full[level]):
            return self._open[level][slot]
        return self._full[level][tile][slot * HASH_BYTES : (slot + 1) * HASH_BYTES]

    def tiles(self) -> Iterator[tuple[str, bytes]]:
        """Path and bytes of every tile, in the order of ``tile_paths``."""
        for level, (full, row) in enumerate(zip(self._full, self._open, strict=True)):
            for index, data in enumerate(full):
                yield tile_path(level, index), data
            if row:
                yield tile_path(level, len(full), len(row)), b"".join(row)
