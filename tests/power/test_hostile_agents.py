"""Agents that attack: each ends its own cell with an outcome that has a name, gains nothing, and touches no neighbour.

One run holds them all, with honest cells before, between and behind. At T1 only those that T1 stands against.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hostile_kit import SECRET, run_hostile, trace_of
from proctor.cli.main import cli
from proctor.runner.run import FinishedRun
from proctor.verification.regrade import grade_again
from sandbox_kit import needs_t2

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


@pytest.fixture(scope="module", params=["T1", pytest.param("T2", marks=needs_t2)])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """``(tier, run)`` with every hostile agent that the tier stands against."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        patch.setenv("PROCTOR_TEST_SECRET", SECRET)
        yield request.param, run_hostile(folder, request.param, list(T1 if request.param == "T1" else T2))


def _cells(run: FinishedRun) -> dict[str, dict[str, Any]]:
    return {row["case_id"]: row for row in run.report["cells"]}


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
        things = [row["args"]["things"] for row in trace_of(run, f"H-{name}") if row["action"] == "loot"]
        assert not any(things), (name, things)
    if tier == "T2":
        assert [row["args"]["things"] for row in trace_of(run, "H-reads_secrets") if row["action"] == "loot"] == [[]]


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
    run = run_hostile(tmp_path, "T1", ["reads_secrets"])
    (things,) = [row["args"]["things"] for row in trace_of(run, "H-reads_secrets") if row["action"] == "loot"]
    assert any("cases.jsonl holds a secret" in thing for thing in things)
    assert any("signing.key holds a secret" in thing for thing in things)
