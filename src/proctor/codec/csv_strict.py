"""Strict CSV: RFC 4180 in UTF-8, with or without a byte-order mark, and a place for every fault.

A row is what Python's ``csv.reader(strict=True)`` reads: cells are separated by commas; a cell that starts with a
quotation mark ends with one, doubled marks inside it are one mark, and it may hold commas and line ends; anywhere
else a quotation mark is text. Rows end at ``\\n``, ``\\r\\n`` or ``\\r``; a line with nothing on it is no row.
Refused: an unclosed quotation, text after a closing quotation mark, bytes that are not UTF-8, NUL, cells and lines
above the limits. Left out: what columns mean, and guessing (other separators, other encodings, types).
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from proctor.errors import InputError, Place

__all__ = ["DEFAULT_CSV_LIMITS", "CsvFault", "CsvLimits", "CsvTable", "iter_csv", "read_csv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvLimits:
    """Ceilings: characters in one cell (never above the csv module's own limit), and in one physical line."""

    max_cell_chars: int = 131_072
    max_line_chars: int = 16 * 1024 * 1024


DEFAULT_CSV_LIMITS = CsvLimits()


class CsvFault(InputError):
    """CSV that can't be read strictly. ``code``: ``syntax``, ``encoding``, ``too_large``, ``header`` or ``cells``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvTable:
    """A small table: its column names, and its rows as ``(line, {column: text})``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def read_csv(path: str | Path, *, required: tuple[str, ...] = (), limits: CsvLimits = DEFAULT_CSV_LIMITS) -> CsvTable:
    """Read a whole file whose rows all have as many cells as the header.

    ``required`` columns must be there; others may be. Raises ``InputError`` with file, line and column.
    """
    name = str(path)
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - closed below; only opening may fail as "can't read"
    except OSError as error:
        raise InputError(
            f"can't read the file: {error.strerror}", place=Place(name), expected="a readable CSV file"
        ) from error
    with stream, closing(iter_csv(stream, file=name, limits=limits)) as lines:
        columns = _header(next(lines, None), name, required)
        rows = []
        for line, cells in lines:
            if len(cells) != len(columns):
                raise CsvFault(
                    "a row does not fit the header",
                    place=Place(name, line, columns[len(cells)] if len(cells) < len(columns) else None),
                    expected=f"{len(columns)} cells",
                    found=f"{len(cells)} cells",
                    fix="add the missing cells (they may be empty), or put text with commas in quotation marks",
                    code="cells",
                )
            rows.append((line, dict(zip(columns, cells, strict=True))))
    return CsvTable(columns=columns, rows=tuple(rows))


def _header(first: tuple[int, list[str]] | None, name: str, required: tuple[str, ...]) -> tuple[str, ...]:
    if first is None:
        raise CsvFault(
            "the file is empty",
            place=Place(name, 1),
            expected="a header row with the column names",
            fix="write the header, even when there are no rows",
            code="header",
        )
    line, columns = first
    for position, column in enumerate(columns):
        if column in columns[:position]:
            raise CsvFault(
                "a column name stands twice in the header",
                place=Place(name, line, column or f"column {position + 1}"),
                expected="each name once",
                found=f'"{column}" twice',
                fix="rename or remove one of the two",
                code="header",
            )
    for column in required:
        if column not in columns:
            raise CsvFault(
                "a column is missing",
                place=Place(name, line, column),
                expected=f"a column named {column}",
                found="the columns " + ", ".join(columns),
                fix="add the column, or give the right file",
                code="header",
            )
    return tuple(columns)


def iter_csv(
    stream: BinaryIO, *, file: str | None = None, limits: CsvLimits = DEFAULT_CSV_LIMITS
) -> Generator[tuple[int, list[str]], None, None]:
    """Rows of an open binary stream as ``(line, cells)``, in order; ``line`` is where the row starts.

    The first row is the header; a blank first line gives an empty one. Nothing but the current row is held.
    Raises ``CsvFault``; the place of a byte that is not UTF-8 is exact where the stream can seek.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    reader = csv.reader(_lines(text, file, limits), strict=True)
    cell_limit = limits.max_cell_chars
    is_stricter = cell_limit < csv.field_size_limit()
    start = 1
    try:
        for cells in reader:
            if cells or start == 1:
                if is_stricter:
                    _check_cells(cells, file, start, cell_limit)
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise _explain(str(error), file, start, reader.line_num, cell_limit) from None
    except UnicodeDecodeError as error:
        raise _not_utf8(stream, error, file, reader.line_num + 1) from None
    finally:
        text.detach()


def _lines(text: io.TextIOWrapper, file: str | None, limits: CsvLimits) -> Iterator[str]:
    number = 0
    while line := text.readline(limits.max_line_chars + 2):
        number += 1
        if len(line) > limits.max_line_chars:
            raise CsvFault(
                "a line is too long",
                place=Place(file, number),
                expected=f"at most {limits.max_line_chars:,} characters",
                fix="check that this is a CSV file",
                code="too_large",
            )
        if "\0" in line:
            raise CsvFault(
                "a NUL character",
                place=Place(file, number),
                expected="text",
                found=f"NUL at character {line.index(chr(0)) + 1}",
                fix="check that this is a CSV file in UTF-8, and remove the character",
                code="encoding",
            )
        yield line


def _check_cells(cells: list[str], file: str | None, line: int, limit: int) -> None:
    for position, cell in enumerate(cells):
        if len(cell) > limit:
            raise CsvFault(
                "a cell is too large",
                place=Place(file, line, f"column {position + 1}"),
                expected=f"at most {limit:,} characters",
                found=f"{len(cell):,} characters",
                code="too_large",
            )


def _explain(text: str, file: str | None, start: int, line: int, cell_limit: int) -> CsvFault:
    if "expected after" in text:
        return CsvFault(
            "text after a closing quotation mark",
            place=Place(file, line),
            expected="a comma or the end of the row",
            fix="write a quotation mark inside a quoted cell as two",
            code="syntax",
        )
    if "unexpected end of data" in text:
        return CsvFault(
            "a quoted cell is never closed",
            place=Place(file, start),
            expected="a closing quotation mark",
            found=f"the end of the file at line {line}",
            fix="close the cell that opens in this row; the file may have been cut off",
            code="syntax",
        )
    if "field limit" in text:
        limit = min(cell_limit, csv.field_size_limit())
        return CsvFault(
            "a cell is too large",
            place=Place(file, start),
            expected=f"at most {limit:,} characters",
            fix="check for a quotation mark that is never closed",
            code="too_large",
        )
    return CsvFault(f"invalid CSV: {text}", place=Place(file, line), expected="RFC 4180", code="syntax")


def _not_utf8(stream: BinaryIO, error: UnicodeDecodeError, file: str | None, line: int) -> CsvFault:
    byte: int | None = error.object[error.start]
    if stream.seekable():
        line, byte = _first_bad_byte(stream)
    return CsvFault(
        "not UTF-8",
        place=Place(file, line),
        expected="UTF-8 text",
        found=None if byte is None else f"byte 0x{byte:02x}",
        fix="save the file as UTF-8",
        code="encoding",
    )


def _first_bad_byte(stream: BinaryIO) -> tuple[int, int | None]:
    """Line (ended as the reader has it) and value of the first byte that is not UTF-8."""
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, last = 1, b""
    while True:
        chunk = stream.read(1 << 20)
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            good = bytes(error.object[: error.start])
            line += _line_ends(last, good)
            return line, error.object[error.start]
        if not chunk:
            return line, None
        line += _line_ends(last, chunk)
        last = chunk[-1:]


def _line_ends(last: bytes, chunk: bytes) -> int:
    count = chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
    return count - 1 if last == b"\r" and chunk.startswith(b"\n") else count
