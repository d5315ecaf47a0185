"""What ``proctor score-final-state`` says, and to which stream."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proctor.cli.main import main

NO_ID = "1: file_id: there is no file_id column; expected a header row with a column named file_id; found "
GOOD = b"file_id,x\nA,1\nB,2\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["score-final-state", *arguments])
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, captured.out, captured.err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"",
            NO_ID + "no header row; name the id column so, or give the right file",
        ),
        (
            b"id,x\nA,1\n",
            NO_ID + "columns id, x",
        ),
        (b"\nfile_id,x\n", "1: file_id: there is no file_id column"),
        (
            b"file_id,x,x\n",
            '1: x: a column name stands twice in the header; expected each name once; found "x" 2 times',
        ),
        (b'file_id,x\nA,"1\n', "2: a quoted cell is never closed"),
        (b'file_id,x\nA,"1"2\n', "2: text after a closing quotation mark"),
        (b"file_id,x\nA,\xe9\n", "2: not UTF-8; expected UTF-8 text; found byte 0xe9; save the file as UTF-8"),
        (b"file_id,x\nA,\0\n", "2: a NUL character"),
        (b"\xff\xfef\0i\0", "1: not UTF-8"),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_unreadable_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, message: str, which: int
) -> None:
    paths = [tmp_path / "expected.csv", tmp_path / "candidate.csv"]
    for path in paths:
        path.write_bytes(GOOD)
    paths[which].write_bytes(data)
    code, out, err = run(capsys, *map(str, paths))
    assert (code, out) == (2, "")
    assert err.startswith(f"proctor: {paths[which]}:{message}")
    assert err.count("\n") == 1


def test_missing_file_and_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(capsys, str(tmp_path / "none.csv"), str(tmp_path))
    assert (code, out) == (2, "")
    assert "none.csv: can't read the file: No such file or directory; expected a readable CSV file; check" in err
    (tmp_path / "e.csv").write_bytes(GOOD)
    code, out, err = run(capsys, str(tmp_path / "e.csv"), str(tmp_path))
    assert (code, out) == (2, "")
    assert "can't read the file: Is a directory" in err


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "one.csv")
    assert (code, out) == (64, "")
    assert "Missing argument 'CANDIDATE.csv'" in err


def test_a_pipe_is_read_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(GOOD)
    read, write = os.pipe()
    os.write(write, GOOD)
    os.close(write)
    code, out, _ = run(capsys, str(tmp_path / "e.csv"), f"/dev/fd/{read}")
    os.close(read)
    assert code == 0
    assert '"scorer_pass": true' in out
