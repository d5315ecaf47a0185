"""Recorded evaluations against the known answers: reports key by key, invalid input refused with its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import proctor as api
from records_kit import proctor

REPORTS = [
    ("dataset.jsonl", "fixture_good.jsonl", "fixture_good", 3, "fixture_good.report.json"),
    ("dataset.jsonl", "fixture_flawed.jsonl", "fixture_flawed", 3, "fixture_flawed.report.json"),
    ("dataset.jsonl", "fixture_mixed.jsonl", "fixture_mixed", 3, "fixture_mixed.report.json"),
    ("random-11/dataset.jsonl", "random-11/results.jsonl", "rnd", 4, "random-11/report.json"),
]
EXIT = {"PASS": 0, "BLOCK": 1, "INVALID": 2, "UNDECIDED": 3}


@pytest.mark.parametrize(("dataset", "results", "candidate", "repeats", "expected"), REPORTS)
def test_report_matches_in_every_listed_key(
    conformance: Path, tmp_path: Path, dataset: str, results: str, candidate: str, repeats: int, expected: str
) -> None:
    grid = conformance / "grid"
    wanted = json.loads((grid / expected).read_text(encoding="utf-8"))
    out = tmp_path / "report.json"
    done = proctor("score", grid / dataset, grid / results, candidate, "--repeats", repeats, "--out", out)
    report = json.loads(out.read_text(encoding="utf-8"))
    assert {key: report[key] for key in wanted} == wanted
    assert done.returncode == EXIT[wanted["gate"]]
    passed, total = wanted["overall"]["passed"], wanted["overall"]["total"]
    last = done.stdout.splitlines()[-1]
    assert last == f"{candidate}: {passed}/{total} ({passed / total:.1%}) gate={wanted['gate']}"

    rows = api.load_jsonl(grid / dataset), api.load_jsonl(grid / results)
    by_api = api.evaluate_records(*rows, candidate, repeats=repeats).to_dict()
    assert {key: by_api[key] for key in wanted} == wanted
    masks = {(cell["case_id"], cell["run"]): cell["failures"] for cell in wanted["cells"]}
    given = {(row["case_id"], row["run"]): row for row in rows[1]}
    for case in rows[0]:
        for run in range(1, repeats + 1):
            assert api.grade_record(case, given.get((case["id"], run))) == masks[case["id"], run]


def _invalid(conformance: Path) -> list[Path]:
    folders = sorted((conformance / "grid" / "invalid").iterdir())
    assert folders
    return folders


def test_invalid_input_is_refused_with_file_line_and_field_and_writes_nothing(
    conformance: Path, tmp_path: Path
) -> None:
    for folder in _invalid(conformance):
        out = tmp_path / f"{folder.name}.json"
        dataset, results = folder / "dataset.jsonl", folder / "results.jsonl"
        done = proctor("score", dataset, results, "fixture_good", "--out", out)
        assert done.returncode == 2, folder.name
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        guilty = dataset if folder.name.startswith("dataset-") else results
        assert re.match(rf"proctor: {re.escape(str(guilty))}:\d+: [^:]+: ", done.stderr), done.stderr
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(api.InvalidEvaluation) as caught:
            api.evaluate_records(api.load_jsonl(dataset), api.load_jsonl(results), "fixture_good")
        assert isinstance(caught.value, ValueError)
