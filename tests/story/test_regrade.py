"""A finished run graded again from its record: the same as before, and otherwise where its suite was edited."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from proctor.cli.grade import grade
from proctor.errors import EvidenceError, UsageError
from proctor.runner.record import RunRecord
from proctor.runner.regrade import changes, regrade
from proctor.suite.load import load_suite
from refund_kit import GOOD, as_json, copy_suite, edit, run_agent


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which R07 passes and R31 fails with a false promise and a crash after it."""
    folder = tmp_path_factory.mktemp("regrade")
    body = """
if start["task"]["case"] == "R31":
    say("hello")
    finish(refunded=True)
    sys.exit(3)
"""
    return run_agent(folder, body + GOOD, runs=2).folder


def _files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_grades_and_report_come_out_byte_by_byte_as_recorded(finished: Path) -> None:
    before = _files(finished)
    cells, report, _ = regrade(finished)
    assert b"".join(msgspec.json.encode(cell) + b"\n" for cell in cells) == before["cells.jsonl"]
    assert as_json(report) == msgspec.json.decode(before["report.json"])
    assert changes(RunRecord(finished), cells) == []
    assert _files(finished) == before, "grading again writes nothing"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("sys.stdout.write('no json\\n'); sys.stdout.flush()", id="garbage"),
        pytest.param("sys.stderr.write('oh'); sys.exit(4)", id="crash"),
        pytest.param("say('hi'); finish(refunded=False, more=1); finish(refunded=False)", id="refused answer"),
        pytest.param("call('delete_order', id='A7'); call('nothing'); finish(refunded=False)", id="refusals"),
    ],
)
def test_other_ends_are_graded_again_the_same(tmp_path: Path, body: str) -> None:
    run = run_agent(tmp_path, body)
    cells, report, _ = regrade(run.folder)
    rows = b"".join(msgspec.json.encode(cell) + b"\n" for cell in cells)
    assert rows == (run.folder / "cells.jsonl").read_bytes()
    assert as_json(report) == as_json(run.report)


def test_a_broken_world_keeps_its_detail_and_both_attempts(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "world.py", '    return db.one("SELECT * FROM orders WHERE id = ?", id)', "    return 1 / 0")
    run = run_agent(tmp_path, "call('get_order', id='A7'); finish(refunded=False)", suite=suite)
    cells, report, _ = regrade(run.folder)
    assert [cell.attempts for cell in cells] == [2, 2]
    assert "ZeroDivisionError" in cells[0].detail
    assert as_json(report) == as_json(run.report)


def test_an_edited_grader_changes_the_grade_and_says_so(finished: Path, tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "grader.py", "if e.answer", "if False and e.answer")
    cells, report, _ = regrade(finished, load_suite(suite))
    changed = changes(RunRecord(finished), cells)
    assert [(c.cell, c.before, c.after) for c in changed] == [
        ("R31/1", "failed", "passed"),
        ("R31/2", "failed", "passed"),
    ]
    assert changed[0].codes_before == ("refund.false_promise",)
    assert report["overall"]["passed"] == 4


def test_an_edited_answer_key_and_gate_count(finished: Path, tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "cases.jsonl", '"cents":4200}]}}', '"cents":4100}]}}')
    edit(suite, "suite.toml", "lower_bound = 0.85", "rate = 0.85")
    cells, report, _ = regrade(finished, load_suite(suite))
    assert [cell.codes for cell in cells[:2]] == [("missing_row", "unexpected_row")] * 2
    assert report["rules_changed"] is True


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"status":"lost"', '"status":"late"', "'setup' differs"),
        ('"id":"R31"', '"id":"R32"', "no case R31"),
    ],
)
def test_what_the_agent_was_given_cannot_change_afterwards(
    finished: Path, tmp_path: Path, old: str, new: str, words: str
) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "cases.jsonl", old, new)
    with pytest.raises(UsageError, match=words):
        regrade(finished, load_suite(suite))


def test_another_suite_cannot_grade_it(finished: Path, tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", 'name = "refund"', 'name = "other"')
    with pytest.raises(UsageError, match="another suite"):
        regrade(finished, load_suite(suite))


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("plan.json", b'"runs":2', b'"runs":3', "plan_changed"),
        ("cases.jsonl", b'"cents":900', b'"cents":901', "cases_changed"),
        ("suite/grader.py", b"no refund was booked", b"a refund was booked", "suite_changed"),
    ],
)
def test_a_changed_record_is_refused(
    finished: Path, tmp_path: Path, file: str, old: bytes, new: bytes, code: str
) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    path = copy / file
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(EvidenceError) as error:
        regrade(copy)
    assert error.value.code == code


def test_a_changed_state_is_refused(finished: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(finished, tmp_path / "copy")
    state = next((copy / "states").iterdir())
    state.write_bytes(state.read_bytes()[:-1] + b"\x01")
    with pytest.raises(EvidenceError, match="state was changed"):
        regrade(copy)


def test_no_run_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run here"):
        regrade(tmp_path)


def test_the_command_prints_what_changed(finished: Path, tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "grader.py", "if e.answer", "if False and e.answer")
    same = CliRunner().invoke(grade, [str(finished)], standalone_mode=False)
    assert "0 of 4 cells are graded otherwise" in same.output
    assert "verdict BLOCK, as before" in same.output
    other = CliRunner().invoke(grade, [str(finished), "--suite", str(suite), "--json"], standalone_mode=False)
    document = msgspec.json.decode(other.stdout)
    assert [change["cell"] for change in document["changes"]] == ["R31/1", "R31/2"]
    assert document["verdict_before"] == "BLOCK"
    assert other.return_value == document["report"]["exit_code"]
