"""What the agents did and used is held to what they were allowed, from the record: a breach invalidates the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.kinds import Verdict
from proctor.ledger.entries import AgentEnd
from proctor.ledger.reader import read_log
from proctor.runner import observed
from proctor.runner.record import RunRecord
from proctor.runner.regrade import regrade
from proctor.suite.model import Contract
from proctor.verification.regrade import grade_again
from refund_kit import GOOD, PREAMBLE, only, run_agent


def _observed(run: Path) -> Any:
    return json.loads((run / "isolation.observed.json").read_bytes())


def test_calls_and_use_are_observed(tmp_path: Path) -> None:
    body = (
        """
call("delete_order", id="B2")
call("no such tool")
"""
        + GOOD
    )
    run = run_agent(tmp_path, body, selection=only("R31"))
    seen = _observed(run.folder)
    assert seen["tools"] == {
        "(unknown tools)": {"unknown_tool": 1},
        "delete_order": {"forbidden": 1},
        "get_order": {"allowed": 1},
    }
    assert seen["outside"] == [], "a call that was refused is no breach"
    assert (seen["attempts"], seen["cycles"], seen["survivors"], seen["alive"]) == (1, 1, 0, 0)
    ceilings = seen["ceilings"]
    assert 0 < ceilings["max_rss_bytes"]["used"] < ceilings["max_rss_bytes"]["allowed"]
    assert 0 < ceilings["wall_ms"]["used"] < ceilings["wall_ms"]["allowed"]
    assert ceilings["cpu_ms"]["used"] > 0 and ceilings["cpu_ms"]["allowed"] is None
    ends = [r.entry for r in read_log(run.folder / "ledger/workers/00") if isinstance(r.entry, AgentEnd)]
    assert [end.use.maxRssBytes for end in ends if end.use] == [ceilings["max_rss_bytes"]["used"]]


def test_use_over_a_ceiling_invalidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "GRACE_MS", -59_999)
    run = run_agent(tmp_path, GOOD)
    assert run.verdict is Verdict.INVALID
    (breach,) = _observed(run.folder)["outside"]
    assert breach.startswith("wall_ms: ") and breach.endswith(" of 1")
    assert any("observed, and not allowed: wall_ms" in reason for reason in run.report["reasons"])
    assert regrade(run.folder).report["verdict"] == "INVALID", "graded again, it is invalid still"
    assert grade_again(run.folder).status == "done"
    monkeypatch.undo()
    findings = grade_again(run.folder).findings
    assert "isolation.observed.json" in {one.file for one in findings}, "the file is held to the record"


def test_a_call_beyond_the_contract_is_a_breach(tmp_path: Path) -> None:
    """The gateway refuses these; were it to fail, the record would show it."""
    run = run_agent(tmp_path, GOOD, selection=only("R31"))
    record = RunRecord(run.folder)
    seen = observed.observe(record, Contract(forbid=("get_order",), max_calls={"get_order": 0}), 60.0)
    assert seen.outside == (
        "cell R31/1: forbidden tool get_order was carried out",
        "cell R31/1: 1 calls of get_order were carried out, 0 are allowed",
    )
    assert not seen.holds
    assert observed.observe(record, Contract(), 60.0).holds


def test_unknown_use_is_no_breach_and_no_zero() -> None:
    assert not observed.Ceiling(allowed=5, used=None).is_over
    assert not observed.Ceiling(allowed=None, used=5).is_over
    assert [observed.Ceiling(allowed=5, used=used).is_over for used in (5, 6)] == [False, True]


def test_what_an_agent_leaves_behind_is_ended_and_counted(tmp_path: Path) -> None:
    body = (
        """
import os
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        time.sleep(120)
    os._exit(0)
survivor = os.read(reader, 20).decode()
open(sys.argv[0] + ".pid", "w").write(survivor)
"""
        + GOOD
    )
    run = run_agent(tmp_path, body, preamble=PREAMBLE, selection=only("R31"))
    pid = (tmp_path / "agent.py.pid").read_text()
    assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
    assert _observed(run.folder)["survivors"] == 1
    texts = b"".join(path.read_bytes() for path in (run.folder / "texts").iterdir())
    assert b"it left 1 process behind outside its session, ended with it" in texts
