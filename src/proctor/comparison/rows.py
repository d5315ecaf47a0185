"""The edge: reads a table from CSV, TSV, JSONL or Parquet into ``(line, values by column)``. Strict, with
limits.

Leaves out what the columns mean (``columns``, ``cells``) and Proctor's own reports (``load``).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.codec.jsonl import iter_jsonl
from proctor.errors import InputError, Place

__all__ = ["SUFFIXES", "Table", "read_table"]

SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_MAX_BYTES: Final = 4 * 1024**3
_MAX_COLUMNS: Final = 2_000
_BATCH: Final = 10_000


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A file's columns in order, and its rows with the line each starts on (for Parquet, the row's
    number).
    """

    columns: tuple[str, ...]
    rows: Iterable[tuple[int, Mapping[str, Any]]]


def read_table(path: Path) -> Table:
    """The table in a file, by its suffix. Raises ``InputError`` with file, line and field."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise InputError("there is no such file", place=Place(str(path)), expected=f"a file ({', '.join(SUFFIXES)})")
    if suffix not in SUFFIXES:
        raise InputError(
            "this kind of file can't be read as a table",
            place=Place(str(path)),
            expected=", ".join(SUFFIXES),
            found=suffix or "no suffix",
            fix="export it as CSV",
        )
    try:
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise InputError(
                "the file is too large",
                place=Place(str(path)),
                expected=f"at most {_MAX_BYTES:,} bytes",
                found=f"{size:,} bytes",
            )
        if suffix == ".parquet":
            return _parquet(path)
        if suffix in (".jsonl", ".ndjson"):
            with path.open("rb") as stream:
                return _objects(list(iter_jsonl(stream, file=str(path))))
        return _csv(path, "\t" if suffix == ".tsv" else None)
    except OSError as error:
        raise InputError(
            f"can't read the file: {error.strerror}", place=Place(str(path)), expected="a readable file"
        ) from error


def _objects(rows: list[tuple[int, dict[str, Any]]]) -> Table:
    columns = dict.fromkeys(key for _, row in rows for key in row)
    return Table(columns=tuple(columns), rows=[(line, row) for line, row in rows])


def _csv(path: Path, delimiter: str | None) -> Table:
    file = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise InputError(
            "not UTF-8",
            place=Place(file, line),
            expected="UTF-8 text",
            found=f"byte 0x{error.object[error.start]:02x}",
            fix="save the file as UTF-8",
        ) from None
    if "\0" in text:
        raise InputError(
            "a NUL character", place=Place(file, text[: text.index("\0")].count("\n") + 1), expected="text"
        )
    if delimiter is None:
        first = text.partition("\n")[0]
        delimiter = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise _not_csv(error, file) from None
    _check_header(header, file)
    return Table(columns=tuple(header), rows=_csv_rows(reader, header, file))


def _not_csv(error: csv.Error, file: str) -> InputError:
    return InputError(f"not CSV: {error}", place=Place(file), expected="CSV as in RFC 4180")


def _csv_rows(reader: Any, header: list[str], file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    line = reader.line_num + 1
    try:
        for values in reader:
            if len(values) != len(header):
                raise InputError(
                    "a row of another width",
                    place=Place(file, line),
                    expected=f"{len(header)} fields, as in the header",
                    found=f"{len(values)} fields" if values else "a blank line",
                    fix="quote fields that contain the separator, or restore the row that stood there",
                )
            yield line, dict(zip(header, values, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise _not_csv(error, file) from None


def _check_header(header: list[str], file: str) -> None:
    if not header or len(header) > _MAX_COLUMNS:
        raise InputError(
            "no header", place=Place(file, 1), expected=f"1 to {_MAX_COLUMNS} column names", found=len(header)
        )
    for index, name in enumerate(header):
        if header.index(name) != index:
            raise InputError("a column twice", place=Place(file, 1, name), expected="each column once")
        if not name and any(header[index:]):
            raise InputError("a column without a name", place=Place(file, 1, f"column {index + 1}"), expected="a name")


def _parquet(path: Path) -> Table:
    import duckdb  # noqa: PLC0415 - heavy, only needed for Parquet

    if any(c in str(path) for c in "*?["):
        raise InputError(
            "a file name with a wildcard",
            place=Place(str(path)),
            expected="a name without * ? [",
            fix="rename the file",
        )
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as database:
        try:
            cursor = database.execute("SELECT * FROM read_parquet(?)", [str(path)])
            columns = tuple(str(item[0]) for item in cursor.description)
            rows: list[tuple[int, Mapping[str, Any]]] = [
                (n, dict(zip(columns, row, strict=True))) for n, row in enumerate(_fetch(cursor), start=1)
            ]
        except duckdb.Error as error:
            first = str(error).partition("\n")[0]
            raise InputError(f"not Parquet: {first}", place=Place(str(path)), expected="a Parquet file") from None
    return Table(columns=columns, rows=rows)


def _fetch(cursor: Any) -> Iterator[tuple[Any, ...]]:
    while batch := cursor.fetchmany(_BATCH):
        yield from batch
