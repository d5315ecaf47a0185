"""Rows and cells of CSV found in a block of bytes, many at once. Pure: bytes in, positions out.

Only *regular* CSV is split here: every quotation mark opens a cell, closes it, or is one of a doubled pair inside
one. Then the parity of the marks alone says what is quoted, and the result is exactly what a strict RFC 4180 reader
gives. Anything else is reported as irregular and left to ``codec.csv_strict``. Line ends are ``\\n``, ``\\r\\n`` or
``\\r``; lines with nothing on them are no rows. The header is a row like others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proctor.score._segments import I64, PADDING, U8, U64, SegmentHash

__all__ = ["BlockRows", "hash_cells", "read_block"]

_COMMA, _QUOTE, _LF, _CR = 44, 34, 10, 13
_FIRST_BYTES = 32
_BEYOND = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """The quoted regions of a block: positions of opening and closing marks, in pairs.

    ``dangling``: the opening mark that the block does not close, or None. A doubled mark inside a cell closes one
    region and opens the next, which changes nothing for the commas and line ends around it.
    """

    opens: I64
    closes: I64
    dangling: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The complete rows of a block (line ends left out) and how many bytes they take with their line ends."""

    starts: I64
    ends: I64
    consumed: int


def find_quotes(data: U8) -> Quotes | None:
    """The quoted regions of a block that starts at the start of a row; None where it is irregular."""
    marks = np.flatnonzero(data == _QUOTE)
    opens, closes = marks[0::2], marks[1::2]
    none = marks[:0]
    if not len(marks):
        return Quotes(opens=none, closes=none, dangling=None)
    before = data[opens - 1]
    opens_well = (before == _COMMA) | (before == _LF) | (before == _CR)
    opens_well[0] |= opens[0] == 0
    opens_well[1:] |= opens[1:] == closes[: len(opens) - 1] + 1
    inner = closes[:-1] if len(closes) and closes[-1] + 1 == len(data) else closes
    after = data[inner + 1]
    closes_well = (after == _COMMA) | (after == _LF) | (after == _CR) | (after == _QUOTE)
    if not (opens_well.all() and closes_well.all()):
        return None
    dangling = int(opens[-1]) if len(opens) > len(closes) else None
    return Quotes(opens=opens[: len(closes)], closes=closes, dangling=dangling)


def find_rows(data: U8, quotes: Quotes, *, has_cr: bool, is_last: bool) -> Rows:
    """The complete rows; in the last block, what follows the last line end is a row as well."""
    line_ends = _outside(np.flatnonzero(data == _LF), quotes)
    before_lf = 0
    if has_cr:
        is_cr = data == _CR
        if np.count_nonzero(is_cr) == len(line_ends) and bool(is_cr[line_ends - 1].all()) and line_ends[0] > 0:
            before_lf = 1  # every row ends in CR LF, and there is no other CR
        else:
            line_ends = np.sort(np.concatenate((line_ends, _outside(np.flatnonzero(is_cr), quotes))))
    starts = np.empty_like(line_ends)
    consumed = 0
    if len(line_ends):
        consumed = int(line_ends[-1]) + 1
        starts[0] = 0
        np.add(line_ends[:-1], 1, out=starts[1:])
    ends = line_ends - before_lf
    if is_last and consumed < len(data):
        starts, ends = np.append(starts, consumed), np.append(ends, len(data))
        consumed = len(data)
    filled = ends > starts
    if not filled.all():
        starts, ends = starts[filled], ends[filled]
    return Rows(starts=starts, ends=ends, consumed=consumed)


def outer_commas(data: U8, quotes: Quotes) -> I64:
    """Positions of the commas that separate cells."""
    return _outside(np.flatnonzero(data == _COMMA), quotes)


def _outside(positions: I64, quotes: Quotes) -> I64:
    """The positions (sorted) that are in no quoted region."""
    if not len(quotes.opens) and quotes.dangling is None:
        return positions
    low = np.searchsorted(positions, quotes.opens)
    counts = np.searchsorted(positions, quotes.closes) - low
    stop = len(positions) if quotes.dangling is None else int(np.searchsorted(positions, quotes.dangling))
    total = int(counts.sum())
    if not total:
        return positions[:stop]
    offsets = np.repeat(low - (np.cumsum(counts) - counts), counts)
    keep = np.ones(len(positions), dtype=np.bool_)
    keep[offsets + np.arange(total)] = False
    keep[stop:] = False
    return positions[keep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A block with its rows, and what separates and quotes its cells. ``data`` views ``buffer``."""

    buffer: bytearray | bytes
    data: U8
    rows: Rows
    commas: I64
    quotes: Quotes


def hash_column(cells: Cells, column: int, hasher: SegmentHash) -> tuple[U64, I64]:
    """Hashes and lengths (bytes, without the outer marks) of one column's cells.

    Doubled marks stay doubled: a regular unquoted cell holds no mark at all, so two cells have the same text exactly
    when they have the same bytes between the outer marks. An absent cell, beyond the end of a short row, has hash 0
    and length 0.
    """
    data, rows, commas, quotes = cells.data, cells.rows, cells.commas, cells.quotes
    padded = np.append(commas, np.full(column + 1, _BEYOND))
    first = np.searchsorted(commas, rows.starts)
    starts = rows.starts
    absent = None
    if column:
        left = padded[first + (column - 1)]
        absent = left >= rows.ends
        starts = np.where(absent, rows.ends, left + 1)
    lengths = np.minimum(padded[first + column], rows.ends) - starts
    if len(quotes.opens):
        quoted = (lengths >= 2) & (data[np.minimum(starts, len(data) - 1)] == _QUOTE)
        starts = starts + quoted
        lengths = lengths - 2 * quoted
    hashes = hasher.hash(cells.buffer, starts, lengths)
    if absent is not None and absent.any():
        hashes[absent] = 0
        lengths[absent] = 0
    return hashes, lengths


def is_utf8(data: U8) -> bool:
    """Whether the bytes are UTF-8. ASCII that follows ASCII is left out, since it can't be wrong."""
    keep = data.view(np.int8) < 0
    if not keep.any():
        return True
    keep[1:] |= keep[:-1].copy()
    try:
        data[keep].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def hash_cells(lines: list[bytes], columns: list[int], hasher: SegmentHash) -> U64 | None:
    """Hashes of the given columns' cells, shape (lines, columns), of regular rows without their line ends.

    None where a row turns out not to be regular, which rows that ``find_rows`` gave never are.
    """
    lengths = np.fromiter(map(len, lines), dtype=np.int64, count=len(lines))
    ends = np.cumsum(lengths + 1) - 1
    rows = Rows(starts=ends - lengths, ends=ends, consumed=int(ends[-1]) + 1)
    buffer = b"\n".join(lines) + b"\n" + bytes(PADDING)
    data = np.frombuffer(buffer, dtype=np.uint8)[: rows.consumed]
    quotes = find_quotes(data)
    if quotes is None or quotes.dangling is not None:
        return None
    cells = Cells(buffer=buffer, data=data, rows=rows, commas=outer_commas(data, quotes), quotes=quotes)
    result = np.empty((len(lines), len(columns)), dtype=np.uint64)
    for at, column in enumerate(columns):
        result[:, at] = hash_column(cells, column, hasher)[0]
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRows:
    """The complete rows of a block: where they are, the hash of their bytes, and of their id (0: empty or absent)."""

    starts: I64
    lengths: I64
    rows: U64
    ids: U64
    consumed: int


def _first_lengths(buffer: bytearray, starts: I64, lengths: I64) -> I64 | None:
    """Lengths of unquoted first cells; None where one is longer than the few bytes that are looked at."""
    size = len(buffer) - _FIRST_BYTES + 1
    windows: Any = np.ndarray((size,), dtype=f"V{_FIRST_BYTES}", buffer=buffer, strides=(1,))
    is_comma = windows[starts].view(np.uint8).reshape(-1, _FIRST_BYTES) == _COMMA
    first = is_comma.argmax(axis=1)
    first[~is_comma[np.arange(len(first)), first]] = _FIRST_BYTES
    result: I64 = np.minimum(first, lengths)
    return None if (result == _FIRST_BYTES).any() else result


def read_block(
    buffer: bytearray, size: int, column: int, hasher: SegmentHash, *, is_last: bool, largest_row: int
) -> BlockRows | None:
    """Split and hash the first ``size`` bytes of ``buffer``, which start at the start of a row.

    None where the strict reader must look: NUL, bytes that are not UTF-8, irregular quotation marks, a quotation
    that never closes, a row of more than ``largest_row`` bytes.
    """
    data = np.frombuffer(buffer, dtype=np.uint8)[:size]
    quotes = find_quotes(data)
    if quotes is None or (is_last and quotes.dangling is not None) or buffer.find(b"\0", 0, size) >= 0:
        return None
    rows = find_rows(data, quotes, has_cr=buffer.find(b"\r", 0, size) >= 0, is_last=is_last)
    lengths = rows.ends - rows.starts
    if (len(lengths) and int(lengths.max()) > largest_row) or not is_utf8(data[: rows.consumed]):
        return None
    id_lengths = None
    if not column and not (data[rows.starts] == _QUOTE).any():
        id_lengths = _first_lengths(buffer, rows.starts, lengths)
    if id_lengths is not None:
        ids = hasher.hash(buffer, rows.starts, id_lengths)
    else:
        cells = Cells(buffer=buffer, data=data, rows=rows, commas=outer_commas(data, quotes), quotes=quotes)
        ids, id_lengths = hash_column(cells, column, hasher)
    ids[id_lengths == 0] = 0
    hashes = hasher.hash(buffer, rows.starts, lengths)
    return BlockRows(starts=rows.starts, lengths=lengths, rows=hashes, ids=ids, consumed=rows.consumed)
