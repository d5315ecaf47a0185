"""Checking a run: two answers, and the contradictions that a signed log can still hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.clock import FixedClock
from proctor.errors import EvidenceError, InputError
from proctor.ledger.checks import Finding
from proctor.ledger.entries import AttemptEnd, CellGrade, CycleStart, RunPlan
from proctor.ledger.keys import Signer
from proctor.ledger.note import witness_key
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.witness import witness_log
from proctor.verification.model import Completeness, Integrity, RegradeAnswer, RunCheck
from proctor.verification.run import verify_run
from proctor.verification.text import run_text

from .synthetic import TRUST, Builder, closed_run


def codes(check: RunCheck) -> list[str]:
    return [one.code for one in check.findings]


def test_a_closed_run(tmp_path: Path) -> None:
    check = verify_run(closed_run(tmp_path / "r"), TRUST)
    assert check.findings == ()
    assert (check.integrity, check.completeness, check.exit_code) == (Integrity.INTACT, Completeness.COMPLETE, 0)
    assert (check.planned, check.graded, check.is_closed, check.n_withheld) == (4, 4, True, 0)
    assert run_text(check).splitlines()[:2] == [
        "integrity     intact",
        "completeness  complete: 4 of 4 planned cells graded, run closed",
    ]


def test_a_killed_run_says_what_is_complete(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "r")
    builder.register()
    builder.cell("C0", 1)
    builder.attempt("C0", 2)
    builder.attempt("C1", 1, finish=False)
    builder.abandon()
    check = verify_run(tmp_path / "r", TRUST)
    assert (check.integrity, check.completeness, check.exit_code) == (Integrity.INTACT, Completeness.INCOMPLETE, 1)
    assert {gap.cell: gap.state for gap in check.gaps} == {
        "C0/2": "attempt C0/2.0 ended, not graded",
        "C1/1": "attempt C1/1.0 was interrupted after 3 steps",
        "C1/2": "not started",
    }
    assert "incomplete: 1 of 4 planned cells graded, run never closed" in run_text(check)


def test_a_closed_run_with_a_cell_missing_is_incomplete(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "r")
    builder.register()
    for case, run in (("C0", 1), ("C0", 2), ("C1", 1)):
        builder.cell(case, run)
    builder.close()
    check = verify_run(tmp_path / "r", TRUST)
    assert (check.exit_code, [gap.cell for gap in check.gaps]) == (1, ["C1/2"])


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no run here; expected a run's folder"):
        verify_run(tmp_path, TRUST)


Change = Callable[[Builder], Any]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda b: b.cell("C0", 1), "graded_twice", "cell C0/1 is graded twice"),
        (lambda b: b.cell("C9", 1), "unplanned_cell", "C9/1 was graded but not planned"),
        (lambda b: b.log.append(RunPlan(cells=1, planDigest="x", runId="r1")), "second_plan", "a second plan"),
        (lambda b: b.log.append(CycleStart(attempt="a", cycle=1)), "wrong_log", "belongs into a worker's log"),
        (
            lambda b: b.worker.append(CycleStart(attempt="C0/1.0", cycle=2)),
            "after_attempt",
            "follows the end of attempt C0/1.0",
        ),
        (
            lambda b: b.worker.append(CycleStart(attempt="none", cycle=2)),
            "no_attempt",
            "no attempt that was registered",
        ),
        (
            lambda b: b.log.append(
                CellGrade(attempt="C1/2.7", caseId="C1", codes=(), gradeDigest="x", outcome="passed", run=3)
            ),
            "grade_without_attempt",
            "did not end in a worker's log",
        ),
        (lambda b: (b.run / "traces/C0.1.jsonl").write_bytes(b"{}\n"), "trace_differs", "not that of the ledger"),
        (lambda b: (b.run / "cells.jsonl").write_bytes(b"{}\n"), "grade_differs", "row of cell C0/1 is not the one"),
        (
            lambda b: next((b.run / "states").iterdir()).write_bytes(b"x"),
            "state_differs",
            "not the one it is named for",
        ),
        (lambda b: (b.run / "plan.json").write_bytes(b"{}"), "plan_differs", "the file is not the one in the log"),
        (lambda b: (b.run / "isolation.json").unlink(), "missing_file", "isolation.json: the file is missing"),
    ],
)
def test_what_the_signer_itself_contradicts(tmp_path: Path, change: Change, code: str, words: str) -> None:
    """Every digest and signature holds here; what is wrong is what the record says."""
    builder = Builder(tmp_path / "r")
    builder.register()
    for cell in builder.plan.cells():
        builder.cell(cell.case_id, cell.run)
    change(builder)
    builder.close()
    check = verify_run(tmp_path / "r", TRUST)
    assert code in codes(check)
    assert any(words in one.message for one in check.findings if one.code == code)
    assert check.exit_code == 2


def test_an_outcome_that_the_attempt_does_not_have(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "r", cases=1, runs=1)
    builder.register()
    real = builder.worker.append
    builder.worker.append = lambda e: real(  # type: ignore[method-assign]
        AttemptEnd(attempt=e.attempt, calls=3, code="timeout", detailRef=None, elapsedMs=1, outcome="limit")
        if isinstance(e, AttemptEnd)
        else e
    )
    builder.cell("C0", 1)
    builder.close()
    check = verify_run(tmp_path / "r", TRUST)
    assert codes(check) == ["outcome_differs"]
    assert "expected limit; found passed" in check.findings[0].message


def test_withheld_texts_leave_the_proofs_intact(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "r", cases=1, runs=1)
    builder.register()
    builder.cell("C0", 1)
    builder.texts.close()
    (tmp_path / "r/texts/00").write_bytes(b"")
    builder.texts.close = lambda: None  # type: ignore[method-assign]
    builder.close()
    check = verify_run(tmp_path / "r", TRUST)
    assert check.findings == ()
    assert check.n_withheld == 11
    assert "11 texts are withheld or lost; 1 traces can't be made again" in check.notes


def test_grading_again_is_the_callers(tmp_path: Path) -> None:
    run = closed_run(tmp_path / "r")
    seen: list[Path] = []

    def good(folder: Path) -> RegradeAnswer:
        seen.append(folder)
        return RegradeAnswer(status="done")

    assert verify_run(run, TRUST, regrade=good).regrade == "done"
    assert seen == [run]
    bad = Finding.at("report.json", "report_differs", "another report")
    check = verify_run(run, TRUST, regrade=lambda _: RegradeAnswer(status="differs", findings=(bad,)))
    assert (check.exit_code, codes(check)) == (2, ["report_differs"])

    def breaks(_: Path) -> RegradeAnswer:
        raise EvidenceError("a text is missing")

    check = verify_run(run, TRUST, regrade=breaks)
    assert (check.exit_code, check.regrade) == (2, "failed")
    (run / "report.json").write_bytes(b"{}")
    assert verify_run(run, TRUST, regrade=good).regrade == "not done: the record is broken"


def test_a_witness_signs_the_runs_log_and_so_its_workers(tmp_path: Path) -> None:
    run = closed_run(tmp_path / "r", cases=1, runs=1)
    witness = Signer("city.example/w", b"\x02" * 32)
    key = TrustedKey(role="witness", vkey=witness_key(witness).vkey)
    both = TrustFile(keys=(*TRUST.keys, key), quorum=1)
    assert [one.code for one in verify_run(run, both).findings] == ["quorum"]
    witness_log(run / "ledger", home=tmp_path / "home", signer=witness, trust=TRUST, clock=FixedClock())
    check = verify_run(run, both)
    assert check.findings == ()
    assert "trust         witnessed by city.example/w" in run_text(check)
    assert [one.code for one in verify_run(run, TRUST).findings] == ["unknown_signature"]
