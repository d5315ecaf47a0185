"""What people see of a scored candidate: on the terminal, in the other formats, in the help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import proctor as api
from proctor.report.records_text import record_scorecard
from proctor.stats.passk import pass_k, pass_k_of_counts
from records_kit import case, proctor, result, write_jsonl

CASES = [case(1), case(2, "urgent", "edge")]


def test_the_scorecard_says_which_cell_failed_and_why() -> None:
    rows = [result(of, run) for of in CASES for run in (1, 2, 3)]
    rows[5]["answer"]["label"] = "normal"
    assert record_scorecard(api.evaluate_records(CASES, rows[1:], "cand")).splitlines() == [
        "  overall                       4/6 (66.7%)",
        "  results received              5/6 (83.3%)",
        "  cases passing in every run    0/2 (0.0%)",
        "  95% interval                  cannot tell: nothing varies",
        "  slice common                  2/3 (66.7%)",
        "  slice edge                    2/3 (66.7%)",
        "",
        "   cells  label          who repairs",
        "       1  fact           policy and context",
        "       1  missing        infrastructure",
        "",
        "  rules that did not hold",
        "    - integrity: no cell with missing: 1; at C01/1",
        "    - statistics: rate ≥ 0.95: 0.6667 (4/6); at C01/1, C02/3",
        "    - statistics: rate ≥ 0.9 in slice common: 0.6667 (2/3); at C01/1",
        "    - statistics: rate ≥ 0.9 in slice edge: 0.6667 (2/3); at C02/3",
        "    - statistics: each case passes in every run: 0 (0/2); at C01/1, C02/3",
        "",
        "  C02/3: fact at answer.label",
        "      expected urgent",
        "      found    normal",
        "  … and 1 more failing cell in the report",
        "",
        "  PASS means only that these rules held on these cells; it is no proof of",
        "  anything else.",
        "cand: 4/6 (66.7%) gate=BLOCK",
    ]


def test_text_of_an_agent_is_shown_escaped_and_within_80_columns() -> None:
    rows = [result(of, run) for of in CASES for run in (1, 2, 3)]
    rows[0]["answer"]["evidence"] = ["\x1b[2J\u202e" + "x" * 500]
    text = record_scorecard(api.evaluate_records(CASES, rows, "cand"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_scored_report_comes_in_every_format(tmp_path: Path) -> None:
    rows = [result(of, run) for of in CASES for run in (1, 2, 3)]
    rows[5]["answer"]["label"] = "normal"
    out = tmp_path / "report.json"
    dataset, results = write_jsonl(tmp_path / "d.jsonl", CASES), write_jsonl(tmp_path / "r.jsonl", rows[1:])
    assert proctor("score", dataset, results, "cand", "--out", out).returncode == 1
    shown = {
        name: proctor("report", out, "--format", name) for name in ("html", "json", "junit", "markdown", "csv", "text")
    }
    assert {done.returncode for done in shown.values()} == {0}
    assert '<error type="missing"' in shown["junit"].stdout
    assert "skipped" not in shown["junit"].stdout.replace('skipped="0"', "")
    assert "4 of 6 cells passed" in shown["markdown"].stdout
    assert "answer.label" in shown["html"].stdout
    assert json.loads(shown["json"].stdout)["gate"] == "BLOCK"


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_reliability_from_counts_is_that_of_the_cases(k: int) -> None:
    counts = {0: 3, 2: 5, 4: 11}
    runs = [(passed, 4) for passed, cases in counts.items() for _ in range(cases)]
    one, other = pass_k(runs, k), pass_k_of_counts(counts, 4, k)
    assert (one.cases, one.left_out) == (other.cases, other.left_out)
    for name in ("all_of_k", "any_of_k", "all_of_k_se", "any_of_k_se"):
        left, right = getattr(one, name), getattr(other, name)
        assert left == (pytest.approx(right, rel=1e-12) if isinstance(right, float) else right)


def test_the_help_names_the_exit_codes() -> None:
    text = proctor("score", "--help").stdout
    assert "Exit codes: 0 PASS, 1 BLOCK, 2 INVALID, 3 UNDECIDED." in text
    assert "Every planned cell counts: cases × runs." in text
    assert "split" in proctor("dataset", "--help").stdout
