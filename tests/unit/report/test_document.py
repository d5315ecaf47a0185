"""Reading a report back: strict where values are given, generous where they may lack."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import InputError
from proctor.kinds import Outcome, Verdict
from proctor.report.document import read_document
from proctor.report.worst import offending_steps, sorted_findings, worst_cells
from report_kit import sample, sample_report


def test_a_report_of_a_run_is_read_whole() -> None:
    document = sample()
    assert document.decision is Verdict.BLOCK
    assert document.covered == pytest.approx(11 / 12)
    assert {cell.end for cell in document.cells} == set(Outcome)


def test_a_report_of_recorded_results_needs_no_run() -> None:
    document = read_document(
        {
            "candidate": "good",
            "gate": "PASS",
            "overall": {"passed": 1, "total": 3, "rate": 1 / 3},
            "coverage": {"passed": 2, "total": 3, "rate": 2 / 3},
            "cells": [
                {"case_id": "a", "run": 1, "slice": "x", "failures": [], "passed": True},
                {"case_id": "a", "run": 2, "slice": "x", "failures": ["fact"], "passed": False},
                {"case_id": "a", "run": 3, "slice": "x", "failures": ["missing"], "passed": False},
            ],
            "statistics": {
                "clusters_are": "cases",
                "overall": {"cells": 3, "clusters": 1, "rate": 1 / 3, "interval": {"reason": "1 independent case"}},
            },
            "failure_owners": {"fact": {"cells": 1, "owner": "policy and context", "meaning": "not what is so"}},
            "explained": [
                {
                    "case_id": "a",
                    "run": 2,
                    "findings": [{"label": "fact", "field": "answer.label", "expected": "x", "found": "y"}],
                }
            ],
            "something_new": {"later": True},
        }
    )
    assert document.cells[1].findings[0].code == "fact"
    assert document.cells[1].findings[0].found == "y"
    assert document.reason_codes == {"fact": "not what is so"}
    assert document.statistics is not None and document.statistics.whole is not None
    assert document.agent == "good"
    assert document.covered == pytest.approx(2 / 3)
    assert [cell.end for cell in document.cells] == [Outcome.PASSED, Outcome.FAILED, Outcome.MISSING]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "MAYBE"}, "report.json: verdict: unknown verdict; expected PASS, BLOCK, INVALID, UNDECIDED"),
        ({"overall": {"passed": "4"}}, "report.json: overall.passed: wrong type; expected int; found 4"),
        ({"schema_version": 99}, "report.json: schema_version: this report is of a version that can't be read"),
        ({"cells": [{"case_id": "a"}]}, "report.json: cells[0]: the key 'run' is missing"),
        ({"gate_basis": [{"layer": "x", "rule": "r", "asks": "a", "held": "no"}]}, "report.json: gate_basis[0].held"),
    ],
)
def test_a_broken_report_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_document({**sample_report(), **change}, file="report.json")
    assert caught.value.message.startswith(message)


def test_critical_cells_come_first_then_by_outcome_then_by_plan() -> None:
    names = [(cell.name, str(cell.end)) for cell in worst_cells(sample().cells, 100)]
    assert names == [
        ("R01/3", "failed"),
        ("R01/2", "failed"),
        ("R02/1", "agent_error"),
        ("R02/2", "limit"),
        ("R02/3", "missing"),
        ("R03/2", "grader_error"),
        ("R03/1", "infra_error"),
        ("R03/3", "withheld"),
    ]
    assert worst_cells(sample().cells, 2) == worst_cells(sample().cells, 100)[:2]


def test_a_few_findings_show_as_many_codes_as_they_can() -> None:
    cell = worst_cells(sample().cells, 1)[0]
    assert [finding.code for finding in sorted_findings(cell.findings)] == [
        "forbidden_action",
        "missing_row",
        "missing_row",
    ]
    assert offending_steps(cell) == {3: ("forbidden_action",)}
