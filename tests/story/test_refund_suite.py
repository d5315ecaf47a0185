"""The refund suite runs as written, from a folder outside the package, and tells good agents from bad ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from proctor.kinds import Verdict
from refund_kit import GOOD, REFUND, cell, copy_suite, edit, only, run_agent

DELETES = "call('delete_order', id='B2'); finish(refunded=False)"
AS_WRITTEN = {
    "cases.jsonl": "fda9352e042bfe4e82cf0460dc0719c7462dd612d5e125174ef9e6c8d254243c",
    "grader.py": "14c09c1e4b3ed4ffcf63743623c20f69c39c12d5f8394de79f5413b4b5d690fb",
    "suite.toml": "b4c9d79c080c6f4bbb8254a82b1f03631f3e009cbd49126fae32f5d38c1da4fd",
    "world.py": "2f012bdf9d6f82212862beb351c11df399a6572156d94b5524ca1ec2dd7234bf",
}


def test_the_suite_is_the_one_that_sets_the_bar_byte_for_byte() -> None:
    digests = {name: hashlib.sha256((REFUND / name).read_bytes()).hexdigest() for name in AS_WRITTEN}
    assert digests == AS_WRITTEN


def test_a_good_agent_passes_every_cell_and_two_cases_are_too_few(tmp_path: Path) -> None:
    run = run_agent(tmp_path, GOOD, runs=3)
    report = run.report
    assert (report["overall"]["passed"], report["overall"]["total"]) == (6, 6)
    assert report["do_nothing_floor"] == {"passed": 1, "total": 2, "rate": 0.5}
    assert run.verdict in (Verdict.UNDECIDED, Verdict.BLOCK)
    assert "lower end of the 95% interval" in " ".join(report["reasons"])


def test_a_good_agent_passes_a_gate_on_the_rate(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", "lower_bound = 0.85", "rate = 0.85")
    run = run_agent(tmp_path, GOOD, suite=suite)
    assert run.verdict is Verdict.PASS, run.report["reasons"]
    assert not list(suite.rglob("__pycache__")), "the suite's folder is left as it was"


def test_a_run_made_inside_the_suites_folder_is_no_part_of_the_suite(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    run = run_agent(suite, GOOD, suite=suite, selection=only("R31"))
    assert not (run.folder / "suite" / "run").exists()
    assert run.report["outcomes"] == {"passed": 1}


@pytest.mark.parametrize(
    ("case", "body", "codes"),
    [
        pytest.param("R07", "finish(refunded=False)", ["missing_row"], id="does nothing"),
        pytest.param("R31", "finish(refunded=False)", [], id="does nothing where that is right"),
        pytest.param(
            "R31", "call('delete_order', id='B2'); finish(refunded=False)", ["forbidden_action"], id="forbidden"
        ),
        pytest.param("R07", "finish(refunded=True)", ["missing_row", "refund.false_promise"], id="false promise"),
        pytest.param(
            "R07",
            "[call('issue_refund', order_id='A7', cents=c, reason='') for c in (4200, 1)]; finish(refunded=True)",
            ["over_call_limit"],
            id="over the call limit",
        ),
        pytest.param(
            "R31",
            "call('issue_refund', order_id='B2', cents=900, reason=''); finish(refunded=True)",
            ["unexpected_row"],
            id="refunds what it should not",
        ),
    ],
)
def test_each_fault_has_its_code(tmp_path: Path, case: str, body: str, codes: list[str]) -> None:
    row = cell(run_agent(tmp_path, body, selection=only(case)).report, case)
    assert row["failures"] == codes
    assert row["outcome"] == ("failed" if codes else "passed")


def test_an_unexpected_change_is_seen(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", 'forbid = ["delete_order"]', "forbid = []")
    run = run_agent(
        tmp_path, "call('delete_order', id='B2'); finish(refunded=False)", suite=suite, selection=only("R31")
    )
    finding = cell(run.report, "R31")["findings"][0]
    assert (finding["code"], finding["field"], finding["found"]) == ("unexpected_change", "orders", None)


def test_a_wrongly_typed_answer_is_refused_and_may_be_given_again(tmp_path: Path) -> None:
    body = """
first = finish(refunded="yes")
assert first["error"]["code"] == -32602 and first["error"]["data"] == {"code": "bad_answer", "retryable": False}, first
assert "refunded: expected boolean" in first["error"]["message"], first
second = finish(refunded=False, note="x")
assert "unknown field 'note'" in second["error"]["message"], second
finish(refunded=False)
"""
    run = run_agent(tmp_path, body, selection=only("R31"))
    assert run.report["outcomes"] == {"passed": 1}, cell(run.report, "R31")


def test_what_the_agent_sees(tmp_path: Path) -> None:
    body = """
assert start["protocol"] == "proctor.agent/1" and start["cycle"] == start["cycles"] == 1
assert start["task"] == {"case": "R07", "text": "", "policy": "Refund lost orders.\\n", "input": None}, start["task"]
tool = {t["name"]: t for t in start["tools"]}["issue_refund"]
assert tool["description"] == "Refund an order, at most what was paid."
assert tool["parameters"]["required"] == ["order_id", "cents", "reason"]
assert start["answer"]["properties"] == {"refunded": {"type": "boolean"}}
assert say("x") == {"text": "A7 never came", "done": False}
assert say("y") == {"text": "Yes, money back", "done": True}
assert say("z") == {"text": "", "done": True}
denied = call("issue_refund", order_id="A7", cents=4201, reason="lost")["error"]
assert denied["code"] == -32001 and denied["message"] == "more than was paid", denied
assert call("get_order", id="none")["error"]["code"] == -32003
assert call("get_order", id=7)["error"]["data"]["code"] == "bad_arguments"
assert call("get_order", id="A7", more=1)["error"]["code"] == -32602
assert call("nothing")["error"]["data"]["code"] == "unknown_tool"
assert call("delete_order", id="A7")["error"]["code"] == -32001
assert call("issue_refund", order_id="A7", cents=4200, reason="lost")["error"]["code"] == -32005
assert rpc("shout")["error"]["code"] == -32601
assert rpc("say", words=1)["error"]["code"] == -32602
finish(refunded=False)
"""
    run = run_agent(tmp_path, body, selection=only("R07"))
    assert cell(run.report, "R07")["failures"] == ["missing_row", "forbidden_action", "over_call_limit"]


def test_a_grader_cannot_change_what_the_others_see(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", '"state", "unchanged"', '"grader.py:told_the_truth", "state", "unchanged"')
    edit(suite, "suite.toml", ', "grader.py:told_the_truth"]', "]")
    meddle = 'e.after.tables["refunds"] += e.expect["refunds"]; e.case.clear(); e.expect.clear()\n    return e.ok()'
    edit(suite, "grader.py", "return e.ok()", meddle)
    row = cell(run_agent(tmp_path, "finish(refunded=False)", suite=suite, selection=only("R07")).report, "R07")
    assert row["failures"] == ["missing_row"]
