"""Faults of a world, of a grader and of the reset each get their own code, and none counts as the agent's failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import refund_kit as kit
from proctor.grade.model import Evidence
from proctor.grade.standard import grade_answer, grade_budget
from proctor.suite.model import Budget
from proctor.worlds.port import ResetProof
from proctor.worlds.remote import RemoteWorld
from proctor.worlds.state import State

LOOKS = 'call("get_order", id="A7")\nfinish(refunded=False)\n'


@pytest.fixture(autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path_factory.getbasetemp() / "home"))


def first(folder: Path, suite: Path, body: str = LOOKS) -> dict[str, Any]:
    case = msgspec.json.decode((suite / "cases.jsonl").read_bytes().split(b"\n")[0])["id"]
    finished = kit.run_agent(folder, body, suite=suite, selection=kit.only(case))
    record: dict[str, Any] = msgspec.json.decode((finished.folder / "cells.jsonl").read_bytes())
    return record


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("    return db.one(", "    return {}[id] or db.one(", "world_broke"),
        ("    return db.one(", '    db.run("DELETE FROM refunds")\n    return db.one(', "undeclared_access"),
    ],
)
def test_a_broken_tool_is_not_the_agents_fault(old: str, new: str, code: str, tmp_path: Path) -> None:
    suite = kit.copy_suite(tmp_path)
    kit.edit(suite, "world.py", old, new)
    cell = first(tmp_path, suite)
    assert (cell["outcome"], cell["codes"]) == ("infra_error", [code])


def test_a_world_that_starts_elsewhere_is_not_the_agents_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = kit.copy_suite(tmp_path)
    whole = RemoteWorld.reset

    def elsewhere(self: RemoteWorld, setup: Any, seed: str) -> ResetProof:
        return msgspec.structs.replace(whole(self, setup, seed), bytes_sha256="0" * 64)

    monkeypatch.setattr(RemoteWorld, "reset", elsewhere)
    cell = first(tmp_path, suite)
    assert (cell["outcome"], cell["codes"]) == ("infra_error", ["reset_mismatch"])


def test_a_code_that_was_not_declared_breaks_the_grader(tmp_path: Path) -> None:
    suite = kit.copy_suite(tmp_path)
    kit.edit(suite, "grader.py", "    return e.ok()", '    return e.fail("oops")')
    cell = first(tmp_path, suite)
    assert cell["outcome"] == "grader_error"
    assert "unregistered_code" in cell["codes"]


def test_a_cycle_that_is_not_ended_by_its_tool_is_the_agents_fault(tmp_path: Path) -> None:
    suite = kit.copy_suite(tmp_path)
    kit.edit(suite, "suite.toml", "runs = 3", 'runs = 3\ncycle = { ends_with = "get_order" }')
    cell = first(tmp_path, suite, "finish(refunded=False)\n")
    assert (cell["outcome"], cell["codes"][:1]) == ("agent_error", ["not_ended"])


def evidence(**fields: Any) -> Evidence:
    nothing = State(tables={})
    given = {"case": {}, "key": None, "expect": None, "before": nothing, "after": nothing, "steps": (), "answer": None}
    return Evidence(**{**given, **fields})


def test_an_answer_that_differs_is_named() -> None:
    grade = grade_answer(evidence(answer={"refunded": True}, expected_answer={"refunded": False}))
    assert [finding.code for finding in grade.findings] == ["wrong_answer"]
    assert grade_answer(evidence(answer={"refunded": False}, expected_answer={"refunded": False})).passed


def test_a_budget_that_nobody_can_judge_fails_where_usage_is_required() -> None:
    grade = grade_budget(evidence(usage={}), Budget(tokens=5), usage_required=True)
    assert [finding.code for finding in grade.findings] == ["budget_unknown"]
    assert grade_budget(evidence(usage={"tokens": 5}), Budget(tokens=5), usage_required=True).passed
