"""A blocked run read back: show, trace, report and reasons lead to the event and change nothing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli
from proctor.codec.canonical import sha256_hex
from proctor.errors import EvidenceError, InputError, UsageError
from proctor.report.load import open_run
from proctor.report.values import text_width
from refund_kit import run_agent

_BAD = """
sys.stderr.write("going to delete \\x1b[31m<b>it</b>\\n")
words = say("<script>alert(1)</script>\\u202e")["text"]
order = re.search(r"[A-Z]\\d+", words)[0]
call("get_order", id=order)
call("delete_order", id=order)
if order == "A7":
    call("issue_refund", order_id=order, cents=42, reason="late " + "x" * 100000)
finish(refunded=order == "A7")
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_agent(tmp_path_factory.mktemp("show"), _BAD).folder


@pytest.fixture
def proctor() -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)


def _ok(result: Result) -> str:
    assert result.exception is None, result.exception
    return result.output


def _digests(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): sha256_hex(p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def test_one_command_leads_from_a_blocked_run_to_the_offending_event(proctor: Callable[..., Result], run: Path) -> None:
    text = _ok(proctor("show", run))
    for words in (
        "BLOCK  0/2 cells passed",
        "2 cells did not pass, worst first",
        "R07/1                 failed        ",
        "forbidden_action  cycle 1 · step 3 (event 6)",
        'expected  {"order_id":"A7","cents":4200}',
        '>     3  agent    delete_order {"id":"A7"}',
        "< forbidden_action",
        "ended: finished",
        "the agent wrote to stderr (a claim):",
        "| going to delete \\u001b[31m<b>it</b>",
        "state before → after  1 row changed",
        '+ {"order_id":"A7","cents":42,"reason":"late',
        "--cell R07/1",
    ):
        assert words in text, words
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(map(text_width, text.split("\n"))) <= 80 + len(str(run))


def test_a_cell_can_be_named_with_and_without_its_run(proctor: Callable[..., Result], run: Path) -> None:
    assert _ok(proctor("show", run, "R31")) == _ok(proctor("show", run, "R31/1"))
    result = proctor("show", run, "R99")
    assert isinstance(result.exception, UsageError)
    assert "expected CASE/RUN or CASE, such as R07/1, R31/1" in result.exception.message


def test_json_has_every_step(proctor: Callable[..., Result], run: Path) -> None:
    values = json.loads(_ok(proctor("show", run, "--json")))
    assert values["verdict"] == "BLOCK"
    assert [row["cell"] for row in values["failed"]] == ["R07/1", "R31/1"]
    assert [step["action"] for step in values["evidence"]["steps"]] == [
        "say",
        "get_order",
        "delete_order",
        "issue_refund",
        "finish",
    ]
    assert values["evidence"]["endings"][0]["stderr"].startswith("going to delete")
    assert "expect" not in values["evidence"]["case"] and "answer" not in values["evidence"]["case"]


def test_the_trace_is_readable_and_its_rows_come_byte_for_byte(proctor: Callable[..., Result], run: Path) -> None:
    assert '>     3  agent    delete_order {"id":"A7"}' in _ok(proctor("trace", run, "R07/1"))
    result = proctor("trace", run, "R07/1", "--json")
    assert result.stdout_bytes == (run / "traces" / "R07.1.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("format_", "start"),
    [
        ("html", b"<!DOCTYPE html>"),
        ("json", b"{\n"),
        ("junit", b"<?xml"),
        ("markdown", b"### "),
        ("csv", b"case,run,"),
        ("text", b"\n  BLOCK"),
    ],
)
def test_a_report_is_made_again_and_the_run_stays_as_it_is(
    proctor: Callable[..., Result], run: Path, tmp_path: Path, format_: str, start: bytes
) -> None:
    before = _digests(run)
    out = tmp_path / "report"
    printed = proctor("report", run, "--format", format_)
    _ok(proctor("report", run, "--format", format_, "--out", out))
    assert out.read_bytes() == printed.stdout_bytes
    assert out.read_bytes().lstrip(b"" if format_ == "text" else b"\n").startswith(start)
    assert _digests(run) == before
    again = proctor("report", run, "--format", format_, "--out", out)
    assert isinstance(again.exception, UsageError)
    assert "there is a file already; expected a new file" in again.exception.message


def test_nothing_is_written_into_a_run(proctor: Callable[..., Result], run: Path) -> None:
    result = proctor("report", run, "--format", "csv", "--out", run / "cells.csv")
    assert isinstance(result.exception, UsageError)
    assert "a finished run's folder must not change" in result.exception.message
    assert not (run / "cells.csv").exists()


def test_the_runner_leaves_a_page_and_junit_in_the_run(proctor: Callable[..., Result], run: Path) -> None:
    html = proctor("report", run, "--format", "html").stdout_bytes
    assert (run / "report.html").read_bytes() == html
    assert ET.parse(run / "junit.xml").getroot().get("failures") != "0"
    assert b"&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in html
    assert b"<script" not in html


def test_a_report_by_itself_can_be_rendered(proctor: Callable[..., Result], run: Path, tmp_path: Path) -> None:
    alone = tmp_path / "report.json"
    alone.write_bytes((run / "report.json").read_bytes())
    assert "BLOCK" in _ok(proctor("report", alone, "--format", "markdown"))
    assert "R07/1" in _ok(proctor("show", alone))
    assert isinstance(proctor("trace", alone, "R07/1").exception, UsageError)


def _copy(run: Path, target: Path) -> Path:
    for path in run.rglob("*"):
        if path.is_file():
            there = target / path.relative_to(run)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
    return target


def test_a_changed_report_is_refused(run: Path, tmp_path: Path) -> None:
    copy = _copy(run, tmp_path / "run")
    path = copy / "report.json"
    path.write_bytes(path.read_bytes().replace(b'"BLOCK"', b'"PASS"'))
    with pytest.raises(EvidenceError, match="the report is not the one that the run's ledger names"):
        open_run(copy)


def test_a_changed_state_is_refused(run: Path, tmp_path: Path) -> None:
    copy = _copy(run, tmp_path / "run")
    reading = open_run(copy)
    cell = reading.cell("R07/1")
    (copy / "states" / f"{cell.states.after}.sqlite").write_bytes(b"not a database")
    with pytest.raises(EvidenceError, match="its bytes have another digest than its name"):
        reading.evidence([cell])


def test_a_broken_trace_is_refused_with_its_line(run: Path, tmp_path: Path) -> None:
    copy = _copy(run, tmp_path / "run")
    path = copy / "traces" / "R07.1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"step":2,', b'"step":"2",'))
    reading = open_run(copy)
    with pytest.raises(InputError, match=r"R07\.1\.jsonl:2: step: wrong type; expected int"):
        list(reading.rows(reading.cell("R07/1")))


def test_a_run_that_did_not_finish_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run here"):
        open_run(tmp_path / "none")
    with pytest.raises(EvidenceError, match="this folder holds no run"):
        open_run(tmp_path)
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(EvidenceError, match=r"this run did not finish.*proctor verify"):
        open_run(tmp_path)


def test_reasons_explain_a_code_and_name_the_nearest(proctor: Callable[..., Result]) -> None:
    listed = [line.split(maxsplit=1) for line in _ok(proctor("reasons")).splitlines()]
    assert ["over_call_limit", "a tool was called more often than the contract allows"] in listed
    assert _ok(proctor("reasons", "budget")) == (
        "budget\n  a figure is over the cell's budget\n"
        "  for example: 31,000 tokens, limit 20,000\n  who mends it: calls and retries\n"
    )
    wrong = proctor("reasons", "crashd").exception
    assert isinstance(wrong, UsageError) and "did you mean 'crashed'?" in wrong.message
    suite = Path(__file__).parents[1] / "suites" / "refund"
    assert "says refunded" in _ok(proctor("reasons", "refund.false_promise", "--suite", suite))
    assert json.loads(_ok(proctor("reasons", "exited", "--json")))[0]["owner"] == "agent"
