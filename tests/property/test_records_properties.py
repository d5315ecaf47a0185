"""What holds for any recorded results: order and files don't matter, deleting never helps, both readers agree."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import proctor as api
from proctor.codec.python_json import python_json
from proctor.codec.text_count import text_counter
from proctor.errors import InvalidEvaluation, Place
from proctor.grade.records import RecordProgram
from proctor.runner.records import evaluate_files, load_record_suite
from proctor.suite.records import RecordsSpec
from records_kit import case, result, write_jsonl

SEVERITIES = ("normal", "urgent", "unknown")
SLICES = ("common", "edge", "security")


def grid(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A dataset and results of which some are missing or fail, in every way there is."""
    rng = random.Random(seed)
    cases = [
        case(n, rng.choice(SEVERITIES), rng.choice(SLICES), rng.choice(("", "a\u2028b", '"', "普"))) for n in range(12)
    ]
    rows = []
    for of in cases:
        for run in (1, 2, 3):
            row = result(of, run)
            kind = rng.randrange(10)
            if kind == 0:
                continue
            if kind == 1:
                row["status"] = "error"
            if kind == 2:
                row["answer"]["label"] = "abstain"
            if kind == 3:
                row["actions"].append({"tool": "send", "target": "team"})
            if kind == 4:
                row["usage"] = {"tokens": rng.choice((201, -1, True)), "latency_ms": rng.uniform(0, 600)}
            rows.append(row)
    return cases, rows


def figures(folder: Path, dataset: Path, files: list[Path]) -> str:
    report = evaluate_files(dataset, files, "cand", repeats=3, suite=load_record_suite(None)).to_dict()
    del report["inputs"]
    return json.dumps(report)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_and_files_change_no_byte_of_the_figures(tmp_path: Path, seed: int) -> None:
    cases, rows = grid(seed)
    dataset = write_jsonl(tmp_path / "d.jsonl", cases)
    first = figures(tmp_path, dataset, [write_jsonl(tmp_path / "all.jsonl", rows)])
    rng = random.Random(seed)
    rng.shuffle(rows)
    cut = rng.randrange(len(rows) + 1)
    parts = [write_jsonl(tmp_path / "a.jsonl", rows[:cut]), write_jsonl(tmp_path / "b.jsonl", rows[cut:])]
    assert figures(tmp_path, dataset, parts) == first
    assert figures(tmp_path, dataset, parts[::-1]) == first
    by_api = api.evaluate_records(cases, rows, "cand").to_dict()
    del by_api["inputs"]
    assert json.dumps(by_api) == first


@given(st.integers(0, 10_000), st.integers(0, 35))
@settings(max_examples=30, deadline=None)
def test_deleting_results_never_raises_a_score(seed: int, gone: int) -> None:
    cases, rows = grid(seed)
    all_of_them = api.evaluate_records(cases, rows, "cand").to_dict()
    fewer = api.evaluate_records(cases, [row for n, row in enumerate(rows) if n != gone], "cand").to_dict()
    assert fewer["overall"]["total"] == all_of_them["overall"]["total"]
    for name in ("overall", "coverage", "all_runs_pass"):
        assert fewer[name]["rate"] <= all_of_them[name]["rate"]
    for name, rate in fewer["by_slice"].items():
        assert rate["rate"] <= all_of_them["by_slice"][name]["rate"]
    assert not (fewer["gate"] == "PASS" and all_of_them["gate"] == "BLOCK")


PIECES = [
    '"',
    "\\",
    "\\u0041",
    " ",
    "\t",
    ",",
    ":",
    "{",
    "}",
    "0",
    "1",
    "e9",
    "-",
    "true",
    "null",
    "NaN",
    "\u3000",
    "run",
]


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_fast_reader_takes_a_row_just_as_the_careful_one_does(tmp_path: Path, data: st.DataObject) -> None:
    """Lines with a random wound: read from a file, they end as they do when read strictly and given as values."""
    cases = [case(1), case(2, "urgent")]
    good = json.dumps(result(cases[0]), ensure_ascii=False)
    at, length = data.draw(st.integers(0, len(good))), data.draw(st.integers(0, 12))
    line = good[:at] + "".join(data.draw(st.lists(st.sampled_from(PIECES), max_size=3))) + good[at + length :]
    dataset, results = write_jsonl(tmp_path / "d.jsonl", cases), tmp_path / "r.jsonl"
    results.write_bytes(line.encode() + b"\n")
    suite = load_record_suite(None)

    def from_file() -> Any:
        report = evaluate_files(dataset, [results], "cand", repeats=3, suite=suite)
        return [cell["failures"] for cell in report.cells()]

    def from_values() -> Any:
        report = api.evaluate_records(cases, api.load_jsonl(results), "cand", repeats=3)
        return [cell["failures"] for cell in report.cells()]

    outcomes = []
    for way in (from_file, from_values):
        try:
            outcomes.append(way())
        except InvalidEvaluation as error:
            outcomes.append(error.code)
    assert outcomes[0] == outcomes[1]


class Inner(msgspec.Struct):
    b: str
    a: int | float | None
    z: list[str]


class Outer(msgspec.Struct, rename={"q": "odd \u00e9 key"}):
    q: Inner
    e: list[Inner]
    c: bool


inner = st.builds(
    Inner,
    b=st.text(),
    a=st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    z=st.lists(st.text(), max_size=3),
)


@given(st.builds(Outer, q=inner, e=st.lists(inner, max_size=2), c=st.booleans()))
@settings(max_examples=200, deadline=None)
def test_typed_rows_are_written_as_python_writes_them(row: Outer) -> None:
    assert python_json(row) == json.dumps(msgspec.to_builtins(row), sort_keys=True, ensure_ascii=False)


class Open(msgspec.Struct):
    x: Any


@given(st.builds(Outer, q=inner, e=st.lists(inner, max_size=3), c=st.booleans()))
@settings(max_examples=200, deadline=None)
def test_counted_texts_are_the_quotation_marks_that_are_written(row: Outer) -> None:
    written = msgspec.json.encode(row)
    if b"\\" not in written:
        assert written.count(b'"') == 2 * text_counter(Outer)(row)


def test_texts_of_open_types_are_not_counted() -> None:
    with pytest.raises(TypeError, match="AnyType can't be counted"):
        text_counter(Open)


SECTION = {
    "version": "v1",
    "slices": ["a"],
    "input": {"t": "text_or_empty"},
    "answer": {
        "n": "number",
        "maybe": "text?",
        "lines": {"each": {"code": "text", "of": "list[text]?"}},
        "k": ["x", "y"],
    },
    "label": [{"name": "all", "grader": "exact", "fields": ["n"], "owner": "us"}],
    "usage": {"cost": "number"},
}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_rows_of_another_shape_are_counted_too(data: st.DataObject) -> None:
    """Optional texts, lists of objects, lists in them: a right row is taken by the fast reader, a doubled key never."""
    types = RecordProgram.compile(msgspec.convert(SECTION, RecordsSpec), lambda field: Place(field=field)).types
    text = st.text("ab c", min_size=1)
    line = st.fixed_dictionaries({"code": text, "of": st.none() | st.lists(text, max_size=2)})
    answer = data.draw(
        st.fixed_dictionaries(
            {
                "n": st.integers(-5, 5) | st.floats(-5, 5),
                "maybe": st.none() | text,
                "lines": st.lists(line, max_size=3),
                "k": st.sampled_from(["x", "y"]),
            }
        )
    )
    row = {"version": "v1", "candidate": "c", "case_id": "1", "run": 1, "status": "ok", "answer": answer}
    raw = json.dumps({**row, "usage": {"cost": 0.5}})
    kind = types.result("c", 3, quick=True)
    counted = 2 * text_counter(kind)(msgspec.json.decode(raw, type=kind))
    assert raw.count('"') == counted
    assert raw.replace('"k":', '"k": "x", "k":').count('"') != counted
