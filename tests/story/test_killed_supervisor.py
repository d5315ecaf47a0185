"""The supervisor is killed with SIGKILL at random moments: nothing that the agent was shown is lost; ``verify`` says
what is complete and what isn't."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.ledger.entries import CallEntry
from proctor.ledger.reader import read_log
from proctor.ledger.texts import TextReader
from refund_kit import GOOD, PREAMBLE, copy_suite, write_agent

KILLS = int(os.environ.get("PROCTOR_KILLS", "10"))

NOTING = """
def call(tool, **args):
    answer = rpc("call", tool=tool, args=args)
    with open(sys.argv[1], "a") as notes:
        notes.write(json.dumps([start["task"]["case"], tool, answer.get("result")]) + "\\n")
    return answer
"""


def _start(folder: Path, out: Path, notes: Path) -> subprocess.Popen[bytes]:
    suite = folder / "refund"
    if not suite.exists():
        copy_suite(folder)
    agent = write_agent(folder, NOTING + GOOD, preamble=PREAMBLE) + f" {notes}"
    command = [sys.executable, "-m", "proctor", "run", str(suite), "--agent", agent, "--runs", "40", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _verify(out: Path) -> tuple[int, dict[str, object]]:
    command = [sys.executable, "-m", "proctor", "verify", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, json.loads(done.stdout)


def _shown(out: Path) -> list[list[object]]:
    """Every answered call in the worker's log, in order, as the agent notes them."""
    texts = TextReader(out / "texts")
    shown = []
    for record in read_log(out / "ledger" / "workers" / "00"):
        entry = record.entry
        if isinstance(entry, CallEntry) and entry.shownRef is not None:
            result = json.loads(texts.get(entry.shownRef)) if entry.error is None else None
            shown.append([entry.attempt.split("/")[0], texts.get(entry.toolRef).decode(), result])
    return shown


@pytest.mark.parametrize("seed", range(KILLS))
def test_nothing_that_was_shown_is_lost(tmp_path: Path, seed: int) -> None:
    out, notes = tmp_path / "run", tmp_path / "notes"
    process = _start(tmp_path, out, notes)
    dice = random.Random(seed)
    deadline = time.monotonic() + 60
    while not notes.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(dice.random() * 0.4)
    process.send_signal(signal.SIGKILL)
    process.wait()
    seen = [json.loads(line) for line in notes.read_text().splitlines()]
    assert seen, "the agent was shown nothing before the kill"
    shown = _shown(out)
    assert shown[: len(seen)] == seen, "an answer that the agent saw is not in the log"
    assert len(shown) - len(seen) <= 1
    code, answer = _verify(out)
    assert code == 1, answer
    assert answer["integrity"] == "intact"
    assert str(answer["completeness"]).startswith("incomplete")
