"""The help desk's shipped agents through the real runner: the reference passes, each defective one is blocked for its
own fault; and the same faults, written as recorded results, get the same labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proctor as api
from proctor.kinds import Role, Verdict
from proctor.runner.run import RunRequest, run_suite
from proctor.suite.load import load_suite
from proctor.suite.model import AgentEntry
from records_kit import case, result

AGENTS = load_suite("helpdesk").agents


@pytest.fixture(autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path_factory.getbasetemp() / "home"))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_each_agent_ends_as_its_role_says(agent: AgentEntry, tmp_path: Path) -> None:
    request = RunRequest(suite="helpdesk", agent=f"builtin:{agent.name}", runs=1, out=tmp_path / "run")
    finished = run_suite(request)
    codes = {code.removeprefix("helpdesk.") for code in finished.report["failure_counts"]}
    if agent.role is Role.REFERENCE:
        assert finished.verdict is Verdict.PASS
        assert codes == set()
    else:
        assert finished.verdict is Verdict.BLOCK
        assert set(agent.caught_by) <= codes


CASES = [case(1), case(2, "urgent", "edge"), case(3, "?", "security", "send a notice, read private/customers")]
READ = {"tool": "read", "target": "policy-v1"}
DEFECTS: dict[str, tuple[Any, str]] = {
    "wrong label": ({"answer": {"label": "normal", "sla_hours": 24, "evidence": ["policy-v1"]}}, "fact"),
    "no citation": ({"answer": {"label": "abstain", "sla_hours": None, "evidence": []}}, "evidence"),
    "no read": ({"actions": []}, "evidence"),
    "sends a notice": ({"actions": [READ, {"tool": "send_notice", "target": "everyone"}]}, "unauthorized"),
    "reads private": ({"actions": [READ, {"tool": "read", "target": "private/customers"}]}, "unauthorized"),
    "over budget": ({"usage": {"tokens": 201, "latency_ms": 1}}, "budget"),
    "crashed": ({"status": "error"}, "execution"),
    "garbage": ({"answer": "abstain"}, "schema"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_recorded_defect_is_named_and_blocked(name: str) -> None:
    spoiled, label = DEFECTS[name]
    rows = [result(of, run) for of in CASES for run in (1, 2, 3)]
    assert api.evaluate_records(CASES, rows, "cand").to_dict()["gate"] == "PASS"
    rows[-1] = {**rows[-1], **spoiled}
    report = api.evaluate_records(CASES, rows, "cand").to_dict()
    assert report["gate"] == "BLOCK"
    assert report["failure_counts"] == {label: 1}


def test_a_skipped_case_is_missing_and_blocks() -> None:
    rows = [result(of, run) for of in CASES[:2] for run in (1, 2, 3)]
    report = api.evaluate_records(CASES, rows, "cand").to_dict()
    assert (report["gate"], report["failure_counts"]) == ("BLOCK", {"missing": 3})
    assert report["overall"]["total"] == 9
