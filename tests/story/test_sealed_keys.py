"""Held-out cases run with keys that only the graders open; without the keys, or with others, nothing passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

import intake_kit as kit
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.suite.plan import Selection

NAMES = ("H001", "H005")


@pytest.fixture(autouse=True)
def _own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))


@pytest.fixture
def held_out(tmp_path: Path) -> Path:
    suite = Path(shutil.copytree(kit.suite().folder, tmp_path / "intake"))
    files = kit.modules()["publish"].publish(7)
    (suite / "cases.jsonl").write_text(files["held-out/cases.jsonl"], encoding="utf-8")
    (suite / "sealed-keys.jsonl").write_text(files["sealed-keys.jsonl"], encoding="utf-8")
    text = (suite / "suite.toml").read_text(encoding="utf-8")
    (suite / "suite.toml").write_text(text.replace("corpus.py:cases", "cases.jsonl"), encoding="utf-8")
    return suite


def run(suite: Path, agent: str = "reference") -> FinishedRun:
    request = RunRequest(
        suite=str(suite), agent=f"builtin:{agent}", out=suite.parent / "run", selection=Selection(cases=NAMES)
    )
    return run_suite(request)


def outcomes(finished: FinishedRun) -> list[str]:
    return [cell["outcome"] for cell in finished.report["cells"]]


def test_the_graders_open_the_keys_and_the_run_keeps_none(held_out: Path) -> None:
    finished = run(held_out)
    assert outcomes(finished) == ["passed", "passed"]
    lines = (held_out / "sealed-keys.jsonl").read_bytes().split(b"\n")[:-1]
    salts = [msgspec.json.decode(line)["salt"].encode() for line in lines]
    files = [path for path in finished.folder.rglob("*") if path.is_file()]
    kept = [path.name for path in files if any(salt in path.read_bytes() for salt in salts)]
    assert kept == []


def test_a_fault_is_still_named(held_out: Path) -> None:
    finished = run(held_out, "never-routes")
    assert outcomes(finished) == ["failed", "failed"]
    rows = (finished.folder / "cells.jsonl").read_bytes().split(b"\n")[:-1]
    assert [msgspec.json.decode(row)["codes"] for row in rows] == [["not_routed"]] * 2


@pytest.mark.parametrize("change", ["gone", "other"])
def test_keys_that_are_not_the_sealed_ones_grade_nothing(held_out: Path, change: str) -> None:
    keys = held_out / "sealed-keys.jsonl"
    if change == "gone":
        keys.unlink()
    else:
        text = keys.read_text(encoding="utf-8")
        keys.write_text(text.replace('"queue":"', '"queue":"x'), encoding="utf-8")
    finished = run(held_out)
    assert outcomes(finished) == ["grader_error", "grader_error"]
    assert "no sealed key has this digest" in str(finished.report["cells"])
