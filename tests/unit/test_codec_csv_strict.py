"""Strict CSV: what is a row, what is refused, and where."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from proctor.codec.csv_strict import CsvFault, CsvLimits, iter_csv, read_csv
from proctor.errors import InputError


def rows(data: bytes, limits: CsvLimits | None = None) -> list[tuple[int, list[str]]]:
    return list(iter_csv(io.BytesIO(data), file="t.csv", limits=limits or CsvLimits()))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_rows_and_their_lines(end: bytes) -> None:
    data = end.join([b"\xef\xbb\xbfa,b", b'1,"x' + end + b'y"', b"", b'2,"q""q"', b'5" disk', b'""'])
    text_end = end.decode()
    assert rows(data) == [
        (1, ["a", "b"]),
        (2, ["1", f"x{text_end}y"]),
        (5, ["2", 'q"q']),
        (6, ['5" disk']),
        (7, [""]),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'a\n"x"y\n', "t.csv:2: text after a closing quotation mark; expected a comma or the end of the row"),
        (b'a\n1\n"x\ny\n', "t.csv:3: a quoted cell is never closed; expected a closing quotation mark; found the end"),
        (b"a\n1\n\xff\n", "t.csv:3: not UTF-8; expected UTF-8 text; found byte 0xff"),
        (b"a\r1\r\n\xe9,\n", "t.csv:3: not UTF-8; expected UTF-8 text; found byte 0xe9"),
        (b"a\n\xe6\x9d", "t.csv:2: not UTF-8; expected UTF-8 text; found byte 0xe6"),
        (b"a\nx\0\n", "t.csv:2: a NUL character; expected text; found NUL at character 2"),
        (b"a\n" + b"x" * 131_073, "t.csv:2: a cell is too large; expected at most 131,072 characters"),
    ],
)
def test_refusals(data: bytes, message: str) -> None:
    with pytest.raises(CsvFault) as caught:
        rows(data)
    assert caught.value.message.startswith(message)


def test_limits() -> None:
    with pytest.raises(CsvFault, match=r"t\.csv:2: column 2: a cell is too large; expected at most 3 characters"):
        rows(b"a,b\n1,1234\n", CsvLimits(max_cell_chars=3))
    with pytest.raises(CsvFault, match=r"t\.csv:2: a line is too long; expected at most 5 characters"):
        rows(b"a,b\n1,1234\n", CsvLimits(max_line_chars=5))


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"code,name\nAA,Ada\n\nBB,\n")
    table = read_csv(path, required=("code",))
    assert table.columns == ("code", "name")
    assert table.rows == ((2, {"code": "AA", "name": "Ada"}), (4, {"code": "BB", "name": ""}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "1: the file is empty; expected a header row"),
        (b"a,a\n", "1: a: a column name stands twice in the header"),
        (b"a,b\n", "1: code: a column is missing; expected a column named code; found the columns a, b"),
        (b"code,b\n1\n", "2: b: a row does not fit the header; expected 2 cells; found 1 cells"),
        (b"code,b\n1,2,3\n", "2: a row does not fit the header; expected 2 cells; found 3 cells"),
    ],
)
def test_tables_that_do_not_fit(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(data)
    with pytest.raises(CsvFault) as caught:
        read_csv(path, required=("code",))
    assert caught.value.message.startswith(f"{path}:{message}")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't read the file"):
        read_csv(tmp_path / "none.csv")
