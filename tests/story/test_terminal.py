"""On a terminal: colour, progress and nothing left behind by it; elsewhere plain text."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from proctor.cli.terminal import style_for
from proctor.report.style import COLOUR, PLAIN
from refund_kit import GOOD, copy_suite, write_agent


class _Terminal:
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert style_for(_Terminal()) is COLOUR  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert style_for(_Terminal()) is PLAIN  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert style_for(_Terminal()) is PLAIN  # type: ignore[arg-type]


def _run(arguments: list[str], folder: Path) -> tuple[int, bytes]:
    """Exit code and everything a terminal got to see."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(Path(proctor.__file__).parents[1])}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", *arguments], cwd=folder, env=environment, stdout=follower, stderr=follower
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return process.wait(timeout=60), seen


def test_a_run_on_a_terminal_has_progress_and_colour(tmp_path: Path) -> None:
    suite, agent = copy_suite(tmp_path), write_agent(tmp_path, GOOD)
    code, seen = _run(["run", str(suite), "--agent", agent, "--runs", "1", "--out", "run"], tmp_path)
    assert code == 3
    assert b"\r\x1b[2K[####################] 2/2  R31/1 passed  " in seen
    assert b"\x1b[1;33mUNDECIDED\x1b[0m  2/2 cells passed" in seen


def test_an_error_wipes_the_progress_line(tmp_path: Path) -> None:
    code, seen = _run(["run", "nowhere", "--agent", "cmd:true"], tmp_path)
    assert code != 0
    assert b"\r\x1b[2Kproctor: " in seen
