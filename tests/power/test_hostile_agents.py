"""Agents that attack: each ends its own cell with an outcome that has a name, gains nothing, and touches no neighbour.

One run holds them all, with honest cells before, between and behind. At T1 only those that T1 stands against.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli.main import cli
from proctor.ledger.keys import install_signer
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.verification.regrade import grade_again
from refund_kit import copy_suite, edit
from sandbox_kit import needs_t2

HOSTILE = Path(__file__).with_name("hostile")
SECRET = "a-secret-of-the-supervisor"
KEY = "the-answer-key-of-this-suite"

# name → the outcomes that it may end with, and the codes that may come first
FAILED = ({"failed"}, {"missing_row"})
GARBAGE = ({"agent_error"}, {"garbage"})
OUTPUT = ({"limit"}, {"output_limit"})
T1 = {
    "survives": FAILED,
    "floods_stdout": OUTPUT,
    "floods_lines": ({"limit"}, {"output_limit", "timeout"}),
    "long_line": OUTPUT,
    "duplicate_keys": GARBAGE,
    "not_a_number": GARBAGE,
    "forged_result": GARBAGE,
    "forged_entry": GARBAGE,
    "forged_methods": FAILED,
}
T2 = T1 | {
    "reads_secrets": FAILED,
    "writes_record": FAILED,
    "fills_disk": FAILED,
    "fills_memory": ({"failed", "agent_error"}, {"missing_row", "crashed"}),
    "forks": FAILED,
}


def _suite(folder: Path, names: list[str]) -> Path:
    """The refund suite with a hostile case of each name between honest ones."""
    suite = copy_suite(folder)
    edit(suite, "suite.toml", "seconds = 90", "seconds = 20")
    honest = [json.loads(line) for line in (suite / "cases.jsonl").read_text().splitlines()]
    lost = next(case for case in honest if case["id"] == "R07")
    cases = [honest[0]]
    for name in names:
        cases.append(lost | {"id": f"H-{name}", "slice": "hostile", "key": KEY})
    cases.append(honest[1])
    (suite / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return suite


def _run(folder: Path, tier: Any, names: list[str]) -> FinishedRun:
    agents = Path(shutil.copytree(HOSTILE, folder / "agent", ignore=shutil.ignore_patterns("__pycache__")))
    suite, out = _suite(folder, names), folder / "runs" / "hostile"
    home = Path(os.environ["PROCTOR_HOME"])
    key = install_signer(os.environ).private_text()
    targets = {
        "secrets": [SECRET, KEY, key],
        "files": [
            str(suite / "cases.jsonl"),
            str(suite / "grader.py"),
            str(home / "signing.key"),
            *(
                str(out / name)
                for name in ("ledger/wal", "ledger/workers/00/wal", "texts/00", "cells.jsonl", "plan.json")
            ),
        ],
        "folders": [str(folder / "runs"), str(suite), str(home)],
        "python": sys.executable,
        "mark": str(folder),
        "most_bytes": 64 * 1024**2,
    }
    (agents / "targets.json").write_text(json.dumps(targets))
    here = Path.cwd()
    os.chdir(agents)
    try:
        return run_suite(
            RunRequest(suite=str(suite), agent=f"cmd:{sys.executable} agent.py", runs=1, isolation=tier, out=out)
        )
    finally:
        os.chdir(here)


@pytest.fixture(scope="module", params=["T1", pytest.param("T2", marks=needs_t2)])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``(tier, run)`` with every hostile agent that the tier stands against."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        patch.setenv("PROCTOR_TEST_SECRET", SECRET)
        yield request.param, _run(folder, request.param, list(T1 if request.param == "T1" else T2))


def _cells(run: FinishedRun) -> dict[str, dict[str, Any]]:
    return {row["case_id"]: row for row in run.report["cells"]}


def _trace(run: FinishedRun, case: str) -> list[dict[str, Any]]:
    lines = (run.folder / "traces" / f"{case}.1.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_each_ends_its_own_cell_by_name_and_none_passes(hostile: tuple[str, FinishedRun]) -> None:
    tier, run = hostile
    cells = _cells(run)
    for name, (outcomes, codes) in (T1 if tier == "T1" else T2).items():
        row = cells[f"H-{name}"]
        assert row["outcome"] in outcomes, (name, row)
        assert row["failures"][0] in codes, (name, row)
        assert row["attempts"] == 1, (name, "an agent's failure is not tried again")


def test_neighbours_keep_their_scores(hostile: tuple[str, FinishedRun]) -> None:
    _, run = hostile
    cells = _cells(run)
    assert {case: cells[case]["outcome"] for case in ("R07", "R31")} == {"R07": "passed", "R31": "passed"}
    assert run.report["verdict"] == "BLOCK"
    assert json.loads((run.folder / "isolation.observed.json").read_bytes())["outside"] == []


def test_nothing_was_brought_out(hostile: tuple[str, FinishedRun]) -> None:
    tier, run = hostile
    for name in T1 if tier == "T1" else T2:
        things = [row["args"]["things"] for row in _trace(run, f"H-{name}") if row["action"] == "loot"]
        assert not any(things), (name, things)
    if tier == "T2":
        assert [row["args"]["things"] for row in _trace(run, "H-reads_secrets") if row["action"] == "loot"] == [[]]


def test_no_process_is_left(hostile: tuple[str, FinishedRun]) -> None:
    tier, run = hostile
    mark = str(run.folder.parents[1]).encode()
    left = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if mark in command and entry.name != str(os.getpid()):
            left.append(command)
    assert not left
    seen = json.loads((run.folder / "isolation.observed.json").read_bytes())
    assert seen["alive"] == 0
    if tier == "T1":
        assert seen["survivors"] == 3, "they are counted; at T2 they die with their namespace, before anybody counts"


def test_the_record_is_intact_and_grades_the_same(hostile: tuple[str, FinishedRun]) -> None:
    _, run = hostile
    done = CliRunner().invoke(cli, ["verify", str(run.folder), "--json"], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == 0, done.stdout
    assert grade_again(run.folder).findings == ()
    assert not (run.folder / "start.json").exists()


def test_the_shipped_attackers_would_find_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thief is able: at T1, which does not claim to stop it, it brings out every secret."""
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_TEST_SECRET", SECRET)
    run = _run(tmp_path, "T1", ["reads_secrets"])
    (things,) = [row["args"]["things"] for row in _trace(run, "H-reads_secrets") if row["action"] == "loot"]
    assert any("cases.jsonl holds a secret" in thing for thing in things)
    assert any("signing.key holds a secret" in thing for thing in things)
