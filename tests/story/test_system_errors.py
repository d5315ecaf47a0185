"""What the system refuses is said in a sentence with the place and a way on, never as a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proctor.cli.main import main

FULL = Path("/dev/full")


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    code = ended.value.code
    return code if isinstance(code, int) else -1, capsys.readouterr().err


def test_a_folder_below_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, said = _run(capsys, "corpus", "call-import", "--out", str(tmp_path / "file" / "below"))
    assert code == 2
    assert "not a directory; a part of the path is a file; name another folder" in said


def test_a_table_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "old.csv"
    there.write_text("case,passed\na,true\n", encoding="utf-8")
    code, said = _run(capsys, "compare", str(there), str(tmp_path / "nosuch"))
    assert code == 2
    assert "nosuch: there is no such file" in said


@pytest.mark.parametrize("command", [("corpus", "call-import", "--out", "x"), ("run", "call-import"), ("demo",)])
def test_a_seed_that_a_plan_can_not_hold(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, said = _run(capsys, *command, "--seed", str(2**53))
    assert code == 64
    assert f"{2**53} is not in the range 0<=x<={2**53 - 1}" in said


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_below_stdout() -> None:
    with FULL.open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "proctor", "reasons"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert "no space left on device; make room on the disk" in ended.stderr
    assert "Traceback" not in ended.stderr
