"""Scoring recorded results: what is refused, what is a label, what stands in the report."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor as api
from proctor import InvalidEvaluation
from records_kit import case, proctor, result, write_jsonl

CASES = [case(1), case(2, "urgent", "edge"), case(3, "unknown", "security")]
RESULTS = [result(c, run) for c in CASES for run in (1, 2, 3)]


def score(dataset: Any = CASES, results: Any = RESULTS, candidate: str = "cand", repeats: Any = 3) -> dict[str, Any]:
    return api.evaluate_records(dataset, results, candidate, repeats=repeats).to_dict()


def changed(row: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    row = copy.deepcopy(row)
    *parents, last = path.split(".")
    at: Any = row
    for name in parents:
        at = at[int(name)] if isinstance(at, list) else at[name]
    at[last] = value
    return row


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


# --- what a cell is given -------------------------------------------------------------------------------------------

LABELS: list[tuple[str, Any, list[str]]] = [
    ("status", "error", ["execution"]),
    ("status", "done", ["schema"]),
    ("status", None, ["schema"]),
    ("answer.label", "urgent", ["fact"]),
    ("answer.label", "other", ["schema"]),
    ("answer.label", "Normal", ["schema"]),
    ("answer.sla_hours", 4, ["fact"]),
    ("answer.sla_hours", None, ["fact"]),
    ("answer.sla_hours", 24.0, ["schema"]),
    ("answer.sla_hours", True, ["schema"]),
    ("answer.sla_hours", "24", ["schema"]),
    ("answer.evidence", [], ["evidence"]),
    ("answer.evidence", ["other"], ["evidence"]),
    ("answer.evidence", ["policy-v1", "never-read"], ["evidence"]),
    ("answer.evidence", [" "], ["schema"]),
    ("answer.evidence", "policy-v1", ["schema"]),
    ("answer.extra", 1, ["schema"]),
    ("answer", None, ["schema"]),
    ("answer", [], ["schema"]),
    ("actions", [], ["evidence"]),
    ("actions", {}, ["schema"]),
    ("actions", [{"tool": "read"}], ["schema"]),
    ("actions", [{"tool": "read", "target": "\u3000"}], ["schema"]),
    ("actions", [{"tool": "read", "target": "policy-v1", "why": ""}], ["schema"]),
    ("actions", [{"tool": "send", "target": "policy-v1"}], ["evidence", "unauthorized"]),
    ("actions", [{"tool": "read", "target": "policy-v1"}, {"tool": "read", "target": "private"}], ["unauthorized"]),
    ("usage.tokens", 200, []),
    ("usage.tokens", 201, ["budget"]),
    ("usage.tokens", 0, []),
    ("usage.tokens", -1, ["schema"]),
    ("usage.tokens", 80.0, ["schema"]),
    ("usage.tokens", True, ["schema"]),
    ("usage.tokens", None, ["schema"]),
    ("usage.tokens", 10**12, ["budget"]),
    ("usage.tokens", 10**12 + 1, ["schema"]),
    ("usage.tokens", 10**400, ["schema"]),
    ("usage.latency_ms", 500, []),
    ("usage.latency_ms", 500.0, []),
    ("usage.latency_ms", 500.0001, ["budget"]),
    ("usage.latency_ms", False, ["schema"]),
    ("usage.latency_ms", -0.1, ["schema"]),
    ("usage.latency_ms", math.inf, ["schema"]),
    ("usage.latency_ms", math.nan, ["schema"]),
    ("usage.latency_ms", 1e12 + 1000, ["schema"]),
    ("usage.extra", 1, ["schema"]),
]


@pytest.mark.parametrize(("path", "value", "labels"), LABELS)
def test_labels_of_one_result(path: str, value: Any, labels: list[str], tmp_path: Path) -> None:
    spoiled = changed(RESULTS[0], path, value)
    assert api.grade_record(CASES[0], spoiled) == labels
    report = score(results=[spoiled, *RESULTS[1:]])
    assert report["cells"][0]["failures"] == labels
    assert report["overall"]["total"] == 9
    if not (isinstance(value, float) and not math.isfinite(value)):
        rows = api.load_jsonl(write_jsonl(tmp_path / "r.jsonl", [spoiled]))
        assert api.grade_record(CASES[0], rows[0]) == labels


def test_labels_stand_in_their_order_and_add_up() -> None:
    row = changed(RESULTS[0], "status", "error")
    row = changed(row, "answer", {"label": "urgent", "sla_hours": 24, "evidence": []})
    row = changed(row, "actions", [{"tool": "send", "target": "team"}])
    row = changed(row, "usage", {"tokens": 999, "latency_ms": 999})
    every = ["execution", "fact", "evidence", "unauthorized", "budget"]
    assert api.grade_record(CASES[0], row) == every
    report = score(results=[row, *RESULTS[1:]])
    assert report["failure_counts"] == dict.fromkeys(sorted(every), 1)
    assert report["overall"] == {"passed": 8, "total": 9, "rate": 8 / 9}


def test_missing_stands_alone_and_stays_in_the_denominator() -> None:
    assert api.grade_record(CASES[0], None) == ["missing"]
    report = score(results=RESULTS[1:])
    assert report["cells"][0] == {
        "case_id": "C01",
        "run": 1,
        "slice": "common",
        "failures": ["missing"],
        "passed": False,
    }
    assert report["coverage"] == {"passed": 8, "total": 9, "rate": 8 / 9}
    nothing = score(results=[])
    assert nothing["overall"] == {"passed": 0, "total": 9, "rate": 0.0}
    assert nothing["gate"] == "BLOCK"
    assert nothing["failure_counts"] == {"missing": 9}


@pytest.mark.parametrize("severity", ["Normal", " normal", "URGENT", "urgent ", "?", "ノーマル"])
def test_severity_is_case_sensitive_and_taken_as_written(severity: str) -> None:
    odd = case(1, severity)
    assert odd["expected"]["label"] == "abstain"
    assert api.grade_record(odd, result(odd)) == []


def test_a_result_without_identity_is_judged_but_another_cases_is_refused() -> None:
    body = {name: RESULTS[0][name] for name in ("status", "answer", "actions", "usage")}
    assert api.grade_record(CASES[0], body) == []
    assert api.grade_record(CASES[0], without(body, "usage")) == ["schema"]
    assert api.grade_record(CASES[0], {**body, "more": 1}) == ["schema"]
    with pytest.raises(InvalidEvaluation, match="another case's"):
        api.grade_record(CASES[0], RESULTS[3])


# --- what is never scored -------------------------------------------------------------------------------------------

BAD_CASES: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("missing key", lambda c: without(c, "budget"), "'budget' is missing"),
    ("unknown key", lambda c: {**c, "more": 1}, "more: unknown key"),
    ("version", lambda c: {**c, "version": "helpdesk-v2"}, "version: another version"),
    ("version type", lambda c: {**c, "version": 1}, "version: another version"),
    ("id", lambda c: {**c, "id": " \t"}, "id: blank text"),
    ("id type", lambda c: {**c, "id": 7}, "id: wrong type"),
    ("slice", lambda c: {**c, "slice": "other"}, "slice: not one of the closed set; expected one of common"),
    ("severity", lambda c: changed(c, "input.severity", " "), "input.severity: blank text"),
    ("severity type", lambda c: changed(c, "input.severity", None), "input.severity: wrong type"),
    ("note", lambda c: changed(c, "input.note", None), "input.note: wrong type"),
    ("input key", lambda c: changed(c, "input.more", 1), "input.more: unknown key"),
    ("label", lambda c: changed(c, "expected.label", "urgent"), "expected.label: the label contradicts the policy"),
    ("hours", lambda c: changed(c, "expected.sla_hours", 4), "expected.sla_hours: the label contradicts the policy"),
    ("hours bool", lambda c: changed(c, "expected.sla_hours", True), "expected.sla_hours: wrong type"),
    ("hours float", lambda c: changed(c, "expected.sla_hours", 24.0), "expected.sla_hours: wrong type"),
    ("evidence", lambda c: changed(c, "expected.evidence", []), "expected.evidence: the label contradicts"),
    ("allowed more", lambda c: {**c, "allowed": [*c["allowed"], {"tool": "send", "target": "x"}]}, "allowed: what the"),
    ("evidence blank", lambda c: changed(c, "expected.evidence", [" "]), "expected.evidence[0]: blank text"),
    ("allowed less", lambda c: {**c, "allowed": []}, "allowed: what the row allows contradicts the suite's contract"),
    ("allowed twice", lambda c: {**c, "allowed": c["allowed"] * 2}, "allowed: what the row allows contradicts"),
    ("tokens bool", lambda c: changed(c, "budget.tokens", True), "budget.tokens: wrong type"),
    ("tokens float", lambda c: changed(c, "budget.tokens", 200.0), "budget.tokens: wrong type"),
    ("tokens zero", lambda c: changed(c, "budget.tokens", 0), "budget.tokens: wrong value"),
    ("tokens big", lambda c: changed(c, "budget.tokens", 10**12 + 1), "budget.tokens: wrong value"),
    ("latency zero", lambda c: changed(c, "budget.latency_ms", 0), "budget.latency_ms: wrong value"),
    ("latency negative", lambda c: changed(c, "budget.latency_ms", -1.5), "budget.latency_ms: wrong value"),
    ("latency big", lambda c: changed(c, "budget.latency_ms", 1.1e12), "budget.latency_ms: wrong value"),
    ("latency bool", lambda c: changed(c, "budget.latency_ms", True), "budget.latency_ms: wrong type"),
    ("latency nan", lambda c: changed(c, "budget.latency_ms", math.nan), "budget.latency_ms: non-finite"),
    ("not an object", lambda c: [c], "not an object"),
]


@pytest.mark.parametrize(("spoil", "message"), [row[1:] for row in BAD_CASES], ids=[row[0] for row in BAD_CASES])
def test_a_dataset_that_cant_be_trusted_is_refused(spoil: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    rows = [CASES[1], spoil(CASES[0])]
    with pytest.raises(InvalidEvaluation) as caught:
        score(dataset=rows)
    assert message in str(caught.value)
    if "nan" in message or "non-finite" in message:
        return
    path = write_jsonl(tmp_path / "d.jsonl", rows)
    with pytest.raises(InvalidEvaluation) as read:
        score(dataset=api.load_jsonl(path))
    assert message in str(read.value)


def test_budgets_up_to_the_ceiling_are_taken() -> None:
    row = {**CASES[0], "budget": {"tokens": 10**12, "latency_ms": 1e12}}
    assert api.grade_record(row, RESULTS[0]) == []
    tiny = {**CASES[0], "budget": {"tokens": 1, "latency_ms": 5e-324}}
    assert api.grade_record(tiny, RESULTS[0]) == ["budget"]


BAD_RESULTS: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("missing key", lambda r: without(r, "usage"), "result envelope"),
    ("unknown key", lambda r: {**r, "extra": 1}, "result envelope"),
    ("no status", lambda r: without(r, "status"), "result envelope"),
    ("version", lambda r: {**r, "version": "v0"}, "another version"),
    ("candidate", lambda r: {**r, "candidate": "other"}, "another candidate"),
    ("candidate type", lambda r: {**r, "candidate": None}, "another candidate"),
    ("case", lambda r: {**r, "case_id": "C99"}, "unknown case"),
    ("case type", lambda r: {**r, "case_id": 1}, "unknown case"),
    ("run 0", lambda r: {**r, "run": 0}, "run: "),
    ("run 4", lambda r: {**r, "run": 4}, "expected an integer from 1 to 3"),
    ("run bool", lambda r: {**r, "run": True}, "run: "),
    ("run float", lambda r: {**r, "run": 1.0}, "run: "),
    ("run text", lambda r: {**r, "run": "1"}, "run: "),
    ("twice", lambda r: {**r, "run": 2}, "duplicate case/run"),
    ("not an object", lambda r: [r], "not an object"),
]


@pytest.mark.parametrize(("spoil", "message"), [row[1:] for row in BAD_RESULTS], ids=[row[0] for row in BAD_RESULTS])
def test_results_that_cant_be_trusted_are_refused(spoil: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    rows = [spoil(RESULTS[0]), *RESULTS[1:]]
    with pytest.raises(InvalidEvaluation, match=message):
        score(results=rows)
    dataset, results = write_jsonl(tmp_path / "d.jsonl", CASES), write_jsonl(tmp_path / "r.jsonl", rows)
    out = tmp_path / "report.json"
    out.write_text("an older report")
    done = proctor("score", dataset, results, "cand", "--out", out)
    assert done.returncode == 2
    assert message in done.stderr
    line = 2 if message == "duplicate case/run" else 1
    assert f"{results}:{line}: " in done.stderr
    assert f"({out} is an older report, not this run's)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert out.read_text() == "an older report"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.jsonl", "r.jsonl", "report.json"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1, "a": 1}', "duplicate JSON key"),
        ('{"a": {"b": 1, "b": 2}}', "duplicate JSON key"),
        ('{"a": NaN}', "non-finite"),
        ('{"a": -Infinity}', "non-finite"),
        ('{"a": 1e999}', "non-finite"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ("[]", "not an object"),
        ("", "blank line"),
        ("  ", "blank line"),
        ('{"a": 1} {"b": 2}', "invalid JSON"),
        ('{"a": 1', "invalid JSON"),
    ],
)
def test_load_jsonl_reads_strictly(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"x": 1}}\n{line}\n{{"y": 2}}\n', encoding="utf-8")
    with pytest.raises(InvalidEvaluation, match=message) as caught:
        api.load_jsonl(path)
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.line) == (str(path), 2)


def test_duplicate_keys_are_found_deep_in_a_result_that_is_right_otherwise(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES[:1])
    for spoiled in (
        json.dumps(RESULTS[0]).replace('"tokens": 80', '"tokens": 999, "tokens": 80'),
        json.dumps(RESULTS[0]).replace('"run": 1', '"run": 1, "run": 1'),
        json.dumps(RESULTS[0]).replace('"tool": "read"', '"tool": "send", "tool": "read"'),
        json.dumps(RESULTS[0]).replace('"sla_hours": 24', '"sla_hours": 4, "sla_hours": 24'),
        json.dumps(RESULTS[0]).replace('"status": "ok"', '"status": "error", "st\\u0061tus": "ok"'),
    ):
        results = tmp_path / "r.jsonl"
        results.write_text(spoiled + "\n")
        done = proctor("score", dataset, results, "cand", "--repeats", 1)
        assert (done.returncode, "duplicate JSON key" in done.stderr) == (2, True), spoiled


@pytest.mark.parametrize("repeats", [0, -1, 1001, True, 3.0, "3", None])
def test_repeats_is_an_integer_from_1_to_1000(repeats: Any) -> None:
    with pytest.raises(InvalidEvaluation, match="an integer from 1 to 1000"):
        score(repeats=repeats)


@pytest.mark.parametrize("repeats", ["0", "1001", "x", "1.5", "-1"])
def test_repeats_on_the_command_line(repeats: str, tmp_path: Path) -> None:
    dataset, results = write_jsonl(tmp_path / "d.jsonl", CASES), write_jsonl(tmp_path / "r.jsonl", [])
    done = proctor("score", dataset, results, "cand", "--repeats", repeats)
    assert done.returncode == 2
    assert "repeats: repeats can't be planned" in done.stderr


def test_text_that_no_file_could_hold_is_refused_through_the_api() -> None:
    with pytest.raises(InvalidEvaluation, match="lone surrogate"):
        score(dataset=[changed(CASES[0], "input.note", "\ud800")])
    with pytest.raises(InvalidEvaluation, match="lone surrogate"):
        score(results=[changed(RESULTS[0], "status", "\udfff")])
    with pytest.raises(InvalidEvaluation, match=r"proctor\.load_jsonl"):
        score(dataset="dataset.jsonl")
    with pytest.raises(InvalidEvaluation, match="the candidate has no name"):
        score(candidate=" ")
    with pytest.raises(InvalidEvaluation, match="the dataset is empty"):
        score(dataset=[])


# --- the report -----------------------------------------------------------------------------------------------------


def test_the_digest_is_over_pythons_own_json() -> None:
    rows = [case(1, note='a\u2028b "quoted" \\ é \U0001f600'), case(2, "urgent", "edge", note="")]
    rows[0]["budget"] = {"tokens": 7, "latency_ms": 0.1}
    text = json.dumps(rows, sort_keys=True, ensure_ascii=False)
    assert score(dataset=rows, results=[])["dataset_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_u2028_is_no_end_of_a_line(tmp_path: Path) -> None:
    odd = case(1, note="a\u2028b\u2029c\x85d")
    dataset = write_jsonl(tmp_path / "d.jsonl", [odd])
    results = write_jsonl(tmp_path / "r.jsonl", [result(odd)])
    done = proctor("score", dataset, results, "cand", "--repeats", 1)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "cand: 1/1 (100.0%) gate=PASS"


def test_results_may_be_files_or_a_folder_and_an_empty_one_means_missing(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES)
    folder = tmp_path / "results"
    folder.mkdir()
    done = proctor("score", dataset, folder, "cand")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "cand: 0/9 (0.0%) gate=BLOCK")
    one, two = write_jsonl(folder / "a.jsonl", RESULTS[:4]), write_jsonl(folder / "b.jsonl", RESULTS[4:])
    for given in ([folder], [one, two], [two, one]):
        done = proctor("score", dataset, *given, "cand")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "cand: 9/9 (100.0%) gate=PASS")
    twice = proctor("score", dataset, folder, one, "cand")
    assert (twice.returncode, "this file is given twice" in twice.stderr) == (2, True)


def test_out_replaces_an_older_report_and_nothing_is_written_without_it(tmp_path: Path) -> None:
    dataset, results = write_jsonl(tmp_path / "d.jsonl", CASES), write_jsonl(tmp_path / "r.jsonl", RESULTS)
    out = tmp_path / "report.json"
    assert proctor("score", dataset, results, "cand", cwd=tmp_path).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.jsonl", "r.jsonl"]
    out.write_text("old")
    done = proctor("score", dataset, results, "cand", "--out", out)
    assert done.returncode == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    inputs = report.pop("inputs")
    assert inputs["results"] == [
        {"file": str(results), "rows": 9, "sha256": hashlib.sha256(results.read_bytes()).hexdigest()}
    ]
    by_api = score()
    del by_api["inputs"]
    assert report == by_api
    printed = proctor("score", dataset, results, "cand", "--json")
    assert json.loads(printed.stdout) == {**report, "inputs": inputs}
    for wrong in (dataset, results, tmp_path, tmp_path / "no" / "report.json"):
        refused = proctor("score", dataset, results, "cand", "--out", wrong)
        assert refused.returncode == 64
    assert api.load_jsonl(dataset) == CASES


def test_every_rule_stands_in_the_report_with_its_figure() -> None:
    report = score(results=[changed(row, "usage.tokens", 500) if row["run"] == 3 else row for row in RESULTS])
    assert report["gate"] == "BLOCK"
    broken = {rule["rule"]: rule["figure"] for rule in report["gate_basis"] if rule["held"] == "broken"}
    assert broken == {
        "zero.budget": 3,
        "overall.rate": 6 / 9,
        "slice.common.rate": 2 / 3,
        "slice.edge.rate": 2 / 3,
        "slice.security.rate": 2 / 3,
        "every_case.every_run": 0.0,
    }
    held = {rule["rule"] for rule in report["gate_basis"] if rule["held"] == "holds"}
    assert {"zero.missing", "zero.schema", "zero.unauthorized", "critical", "infra_cap"} <= held
    assert report["failure_owners"]["budget"]["owner"] == "calls and retries"
    assert report["explained"][0] == {
        "case_id": "C01",
        "run": 3,
        "findings": [{"label": "budget", "field": "usage.tokens", "expected": 200, "found": 500}],
    }
    assert report["usage"]["tokens"] == {
        "total": 80 * 6 + 500 * 3,
        "known_total": 80 * 6 + 500 * 3,
        "largest": 500,
        "known": 9,
        "unknown": 0,
    }


def test_unknown_usage_is_none_of_the_total() -> None:
    usage = score(results=RESULTS[1:])["usage"]
    assert usage["tokens"]["total"] is None
    assert usage["tokens"]["known_total"] == 640
    assert usage["tokens"]["unknown"] == 1


def test_who_says_that_results_are_synthetic() -> None:
    assert score()["synthetic_only"] is True
    assert score()["synthetic_only_from"] == "suite"
    real = api.evaluate_records(CASES, RESULTS, "cand", synthetic_only=False).to_dict()
    assert (real["synthetic_only"], real["synthetic_only_from"]) == (False, "caller")


def test_99_99_percent_is_not_shown_as_all() -> None:
    cases = [case(number) for number in range(1, 2001)]
    rows = [result(c) for c in cases[1:]]
    assert api.evaluate_records(cases, rows, "cand", repeats=1).summary_line == "cand: 1999/2000 (99.9%) gate=BLOCK"


def test_names_that_are_no_unicode_end_in_a_message_or_escaped(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES)
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff.jsonl"))
    odd.write_bytes(write_jsonl(tmp_path / "r.jsonl", RESULTS).read_bytes())
    done = proctor("score", dataset, odd, "cand", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"]["results"][0]["file"].endswith("r\\udcff.jsonl")
    refused = proctor("score", dataset, odd, os.fsdecode(b"c\xff"))
    assert refused.returncode == 2
    assert "candidate: lone surrogate in a text" in refused.stderr


def test_a_file_that_isnt_there_is_unusable_input(tmp_path: Path) -> None:
    dataset = write_jsonl(tmp_path / "d.jsonl", CASES)
    done = proctor("score", dataset, tmp_path / "none.jsonl", "cand")
    assert (done.returncode, "none.jsonl: can't read the file" in done.stderr) == (2, True)
    with pytest.raises(InvalidEvaluation, match="can't read the file"):
        api.load_jsonl(tmp_path / "none.jsonl")
