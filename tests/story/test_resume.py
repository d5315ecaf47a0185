"""A run that was killed at any moment goes on with ``--resume`` and comes to what it would have come to.

The supervisor counts its own writes, syncs and renames, and is killed with SIGKILL right before one of them, or in
the middle of a write. ``PROCTOR_CRASH_POINTS`` says at how many (at most 50).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proctor.ledger.entries import AttemptStart, CellGrade, Recovered, SelfTest
from proctor.ledger.reader import is_open, read_log
from refund_kit import GOOD, copy_suite, edit, write_agent

POINTS = min(int(os.environ.get("PROCTOR_CRASH_POINTS", "4")), 50)

LATEST = 12
NOTHING_YET = ("does not exist", "no run to resume", "nothing was run")
TOO_FEW = 3
"""UNDECIDED: two cells passed, and two are too few for this suite's gate."""

AGENT = (
    """
if start["task"]["case"] == "R07":
    call("get_order", id="B2"); finish(refunded=True); sys.exit(0)
"""
    + GOOD
)

DRIVER = """
import os, signal, sys
POINT, COUNT_FILE = int(sys.argv[1]), sys.argv[2]
state = {"n": 0}
def strike(function, *args, **named):
    state["n"] += 1
    if state["n"] == POINT:
        if function is real["write"] and len(args[1]) > 1:
            function(args[0], bytes(args[1])[: len(args[1]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*args, **named)
real = {name: getattr(os, name) for name in ("write", "fsync", "fdatasync", "replace", "unlink")}
for name, function in real.items():
    setattr(os, name, lambda *a, _f=function, **k: strike(_f, *a, **k))
from proctor.cli.main import main
try:
    main(sys.argv[3:])
finally:
    open(COUNT_FILE, "w").write(str(state["n"]))
"""


def _prepare(folder: Path) -> list[str]:
    (folder / "driver.py").write_text(DRIVER)
    return ["run", str(copy_suite(folder)), "--agent", write_agent(folder, AGENT), "--runs", "2", "--quiet"]


def _drive(folder: Path, point: int, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(folder / "driver.py"), str(point), str(folder / "count"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def _proctor(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def _plain(value: Any) -> Any:
    """A value without what may differ between two runs: numbers of events, times, what was spent, attempts."""
    left_out = {
        "event",
        "usage",
        "attempt",
        "attempts",
        "at",
        "run_id",
        "started",
        "finished",
        "seconds",
        "n_events",
        "id",
    }
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if key not in left_out}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _differences(one: Any, other: Any, at: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        return [d for key in {**one, **other} for d in _differences(one.get(key), other.get(key), f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [d for i, pair in enumerate(zip(one, other, strict=True)) for d in _differences(*pair, f"{at}[{i}]")]
    return [] if one == other else [f"{at}: {one} / {other}"]


def _result(run: Path) -> Any:
    report = json.loads((run / "report.json").read_bytes())
    cells = [json.loads(line) for line in (run / "cells.jsonl").read_text().splitlines()]
    return {"report": _plain(report), "cells": _plain(cells)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], int]:
    """An uninterrupted run: its folder's parent, the command, and how many operations it took."""
    folder = tmp_path_factory.mktemp("whole")
    command = _prepare(folder)
    done = _drive(folder, -1, [*command, "--out", "whole"])
    assert done.returncode == 1, done.stderr
    return folder, command, int((folder / "count").read_text())


def _points(total: int) -> list[int]:
    """Spread over the run, the end of which (closing) is worth more of them."""
    dice = random.Random(20261130)
    late = [total - dice.randrange(0, 60) for _ in range(POINTS // 3)]
    return [*late, *(dice.randrange(1, total) for _ in range(POINTS - len(late)))]


@pytest.mark.parametrize("number", range(POINTS))
def test_killed_anywhere_and_resumed_equals_a_whole_run(whole: tuple[Path, list[str], int], number: int) -> None:
    folder, command, total = whole
    point, out = _points(total)[number], folder / f"run{number}"
    killed = _drive(folder, point, [*command, "--out", str(out)])
    # how often heads are signed depends on time: a run may take a few operations less, and be done before its point
    assert killed.returncode == -signal.SIGKILL or point > total - LATEST
    kept = _committed(out)
    resumed = _proctor(folder, "run", "--resume", str(out), "--quiet")
    if resumed.returncode == 64:
        assert any(words in resumed.stderr for words in NOTHING_YET), resumed.stderr
        assert not kept
        shutil.rmtree(out, ignore_errors=True)
        resumed = _proctor(folder, *command, "--out", str(out))
    assert resumed.returncode == 1, resumed.stderr
    differences = _differences(_result(out), _result(folder / "whole"))
    assert not differences, f"killed at operation {point} of {total}: {differences}"
    assert (out / "cells.jsonl").read_bytes().startswith(kept), "a committed result was changed"
    starts = [r.entry for r in read_log(out / "ledger/workers/00") if isinstance(r.entry, AttemptStart)]
    assert len({start.attempt for start in starts}) == len(starts)
    verified = _proctor(folder, "verify", str(out), "--json")
    answer = json.loads(verified.stdout)
    assert (verified.returncode, answer["regrade"]) == (0, "done"), answer["findings"]
    assert not (out / "start.json").exists()


def _committed(out: Path) -> bytes:
    """The rows whose grade is in the log."""
    if not is_open(out / "ledger"):
        return b""
    grades = sum(isinstance(r.entry, CellGrade) for r in read_log(out / "ledger"))
    rows = (out / "cells.jsonl").read_bytes() if grades else b""
    return b"".join(row + b"\n" for row in rows.split(b"\n")[:grades])


WAITING = """
import os
open(sys.argv[1] + "/seen", "a").close()
call("get_order", id="B2")
if not os.path.exists(sys.argv[1] + "/go"): time.sleep(60)
"""


def _interrupt(folder: Path, number: int) -> tuple[subprocess.Popen[str], Path]:
    """A run, sent a signal in its first cell; and its suite."""
    suite, notes = copy_suite(folder), folder / "notes"
    notes.mkdir()
    agent = write_agent(folder, WAITING + GOOD) + f" {notes}"
    process = subprocess.Popen(
        [sys.executable, "-m", "proctor", "run", str(suite), "--agent", agent, "--runs", "1", "--out", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    deadline = time.monotonic() + 60
    while not (notes / "seen").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    return process, suite


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_cleanly_and_the_interrupted_attempt_stays_listed(tmp_path: Path, number: int) -> None:
    out = tmp_path / "run"
    process, _ = _interrupt(tmp_path, number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted after 0 of 2 cells; go on with it: proctor run --resume run" in said
    assert _proctor(tmp_path, "verify", str(out)).returncode == 1, "intact, but incomplete"
    (tmp_path / "notes/go").touch()
    assert _proctor(tmp_path, "run", "--resume", str(out)).returncode == TOO_FEW
    row = json.loads((out / "cells.jsonl").read_text().splitlines()[0])
    assert (row["attempts"], row["attempt"]) == (2, f"{row['case_id']}/1.1"), "the interrupted one counts"
    calls = 2 if row["case_id"] == "R31" else 3
    assert row["usage"]["calls"] > calls - 1, "what it spent counts too"
    assert row["usage"]["seconds"] > 0
    log = [r.entry for r in read_log(out / "ledger")]
    assert sum(isinstance(e, Recovered) for e in log) == 1
    assert sum(isinstance(e, SelfTest) for e in log) == 2, "isolation is tried out again"
    assert not (out / "isolation.1.json").exists(), "found as before"
    verified = _proctor(tmp_path, "verify", str(out))
    assert verified.returncode == 0, verified.stdout
    assert "run 1 of 1 for this plan" in verified.stdout, "a run that was gone on with is one run"


def test_only_the_planned_suite_agent_and_seed_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process, suite = _interrupt(tmp_path, signal.SIGKILL)
    process.communicate()
    (tmp_path / "notes/go").touch()
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    text = (suite / "suite.toml").read_text()
    edit(suite, "suite.toml", "seconds = 90", "seconds = 80")
    refused = _proctor(tmp_path, "run", "--resume", str(out))
    assert refused.returncode == 64
    assert "the suite is not the one that the run was planned with" in refused.stderr
    (suite / "suite.toml").write_text(text)
    other = _proctor(tmp_path, "run", str(suite), "--agent", f"cmd:{sys.executable} -c 1", "--resume", str(out))
    assert (other.returncode, "the agent is not the one" in other.stderr) == (64, True)
    seed = _proctor(tmp_path, "run", "--resume", str(out), "--seed", "2")
    assert "the run was planned with another --seed; expected 1; found 2" in seed.stderr
    runs = _proctor(tmp_path, "run", "--resume", str(out), "--runs", "3")
    assert "another --runs; expected 1; found 3" in runs.stderr
    assert _proctor(tmp_path, "run", "--resume", str(out), "--out", "x").returncode == 64
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}, "a refusal changes nothing"
    assert _proctor(tmp_path, "run", "--resume", str(out), "--seed", "1").returncode == TOO_FEW
    again = _proctor(tmp_path, "run", "--resume", str(out))
    assert (again.returncode, "UNDECIDED" in again.stdout) == (TOO_FEW, True), "of a finished run: its answer"


def test_a_changed_record_is_refused_not_repaired(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    command = ["run", str(suite), "--agent", write_agent(tmp_path, GOOD + "\ntime.sleep(0.2)"), "--runs", "30"]
    process = subprocess.Popen([sys.executable, "-m", "proctor", *command, "--out", "run"], cwd=tmp_path)
    out = tmp_path / "run"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out / "cells.jsonl").exists():
        time.sleep(0.02)
    time.sleep(1.0)
    process.kill()
    process.wait()
    cells = out / "cells.jsonl"
    rows = cells.read_bytes()
    cells.write_bytes(rows.replace(b'"passed"', b'"failed"', 1))
    refused = _proctor(tmp_path, "run", "--resume", str(out))
    assert refused.returncode == 2
    assert "cells.jsonl:1: the row of cell" in refused.stderr
    assert cells.read_bytes() == rows.replace(b'"passed"', b'"failed"', 1)
    cells.write_bytes(rows)
    wal = out / "ledger/workers/00/wal"
    data = bytearray(wal.read_bytes())
    data[len(data) // 3] ^= 1
    wal.write_bytes(data)
    refused = _proctor(tmp_path, "run", "--resume", str(out))
    assert refused.returncode == 2
    assert "damaged in the middle" in refused.stderr
    assert wal.read_bytes() == bytes(data)


def test_what_is_no_interrupted_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused = _proctor(tmp_path, "run", "--resume", "empty")
    assert refused.returncode == 64
    assert "there is no run to resume here" in refused.stderr
    assert _proctor(tmp_path, "run", "--resume", "nowhere").returncode == 64
    assert "no suite is named" in _proctor(tmp_path, "run").stderr
