"""One case graded from its files, as on another machine: the same bytes, the same codes as in the run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import intake_kit as kit
from proctor.cli.main import cli
from proctor.runner.run import RunRequest, run_suite
from proctor.suite.plan import Selection


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A cell of an agent that calls cases complete too early, as files."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        finished = run_suite(
            RunRequest(
                suite="intake",
                agent="builtin:false-complete",
                out=folder / "run",
                selection=Selection(cases=("D002",)),
            )
        )
    (cell,) = finished.report["cells"]
    key = folder / "key.json"
    key.write_bytes(msgspec.json.encode(kit.cases()[1]["key"]))
    states = {name: finished.folder / "states" / f"{cell['states'][name]}.sqlite" for name in ("before", "after")}
    return {"trace": finished.folder / "traces" / "D002.1.jsonl", "key": key, "cell": cell, **states}


def grade(case: dict[str, Any], *more: str, **changed: Path) -> tuple[int, str]:
    files = {**case, **changed}
    arguments = ["grade", "--trace", str(files["trace"]), "--state", str(files["after"]), "--key", str(files["key"])]
    result = CliRunner().invoke(cli, [*arguments, *more], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.output


def test_the_files_say_what_the_run_said_whatever_machine_reads_them(case: dict[str, Any], tmp_path: Path) -> None:
    code, out = grade(case, "--json", "--before", str(case["before"]))
    moved = {name: Path(shutil.copy(case[name], tmp_path / name)) for name in ("trace", "key", "before", "after")}
    assert grade(moved, "--json", "--before", str(moved["before"])) == (code, out)
    made = json.loads(out)
    assert (code, made["passed"], made["not_graded"]) == (1, False, [])
    assert [entry["grader"] for entry in made["grades"]] == ["outcome", "process", "links", "note", "collateral"]
    codes = [found["code"] for entry in made["grades"] for found in entry["codes"]]
    assert codes == [finding["code"] for finding in case["cell"]["findings"]] == ["false_complete"]


def test_it_reads_well(case: dict[str, Any]) -> None:
    code, out = grade(case)
    assert code == 1
    assert out.split("\n")[:2] == [
        "outcome     failed",
        "  false_complete: complete, while 1 items are outstanding; expected awaiting_documents, got complete",
    ]
    assert "collateral  not asked: it needs the state before" in out


def test_a_state_may_be_json(case: dict[str, Any], tmp_path: Path) -> None:
    connection = sqlite3.connect(case["after"])
    connection.row_factory = sqlite3.Row
    tables = {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in ("cases", "events")}
    connection.close()
    state = tmp_path / "state.json"
    state.write_text(json.dumps(tables))
    assert grade(case, after=state) == grade(case)


def test_a_key_that_lacks_a_part_decides_nothing(case: dict[str, Any], tmp_path: Path) -> None:
    key = json.loads(case["key"].read_bytes()) | {"status": "complete", "queue": "waiting"}
    del key["note_facts"]
    path = tmp_path / "key.json"
    path.write_text(json.dumps(key))
    code, out = grade(case, "--json", key=path)
    made = json.loads(out)
    assert (code, made["passed"]) == (3, None)
    assert {"grader": "note", "why": "the key has no note_facts"} in made["not_graded"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to grade; expected RUN, or all three of --trace, --state and --key"),
        (["run", "--key", "k"], "a run and single files at once"),
        (["--trace", "t", "--state", "s", "--key", "nowhere"], "nowhere: the file can't be read"),
    ],
)
def test_what_is_missing_is_said(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(cli, ["grade", *arguments], standalone_mode=False)
    assert words in f"{result.output}{result.exception}"
