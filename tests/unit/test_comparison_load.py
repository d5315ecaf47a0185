"""Files, frames and reports become grids; every bad row is named with file, line and field."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest

from proctor.comparison.api import compare
from proctor.comparison.columns import Columns, guess_columns
from proctor.comparison.load import load_grid, load_plan
from proctor.comparison.model import ScoredGrid
from proctor.errors import InputError, UsageError

ROWS = [{"ticket": f"T{i}", "trial": r, "ok": int((i + r) % 3 > 0)} for i in range(4) for r in (0, 1)]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def as_csv(rows: list[dict[str, Any]], separator: str = ",") -> str:
    lines = [separator.join(rows[0])] + [separator.join(str(v) for v in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


class Frame:
    """A data frame of some make: it knows one of the usual methods."""

    def __init__(self, method: str) -> None:
        self.columns = list(ROWS[0])
        setattr(self, method, self._rows)

    def _rows(self, orient: str = "records") -> list[dict[str, Any]]:
        return [{**row, "score": math.nan} for row in ROWS]


def test_every_format_gives_the_same_cells(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "a.csv", "\ufeff" + as_csv(ROWS)),
        write(tmp_path, "b.csv", as_csv(ROWS, ";").replace("\n", "\r\n")),
        write(tmp_path, "c.tsv", as_csv(ROWS, "\t")),
        write(tmp_path, "d.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        tmp_path / "e.parquet",
    ]
    with duckdb.connect(":memory:") as database:
        database.execute("CREATE TABLE t(ticket TEXT, trial INT, ok BOOLEAN)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row.values()) for row in ROWS])
        database.execute(f"COPY t TO '{files[4]}' (FORMAT parquet)")
    sources: list[Any] = [*files, ROWS, Frame("to_dict"), Frame("to_dicts"), Frame("to_pylist")]
    cells = [load_grid(source, Columns()).grid.cells for source in sources]
    assert len(cells[0]) == 8
    assert all(other == cells[0] for other in cells)


def test_columns_are_guessed_and_overridden() -> None:
    names = ["Ticket ID", "Trial", "Is Correct", "Category", "total_tokens", "Cost (USD)", "Outcome"]
    found = guess_columns(names, "x.csv", Columns())
    assert found.described() == (
        "case=Ticket ID run=Trial passed=Is Correct slice=Category status=Outcome tokens=total_tokens cost=Cost (USD)"
    )
    assert guess_columns(["id", "passed", "score"], "x", Columns(score="score")).passed is None
    assert guess_columns(["id", "passed", "score"], "x", Columns()).score is None
    assert guess_columns(["a", "b"], "x", Columns(case="a", passed="b")).described() == "case=a passed=b"


@pytest.mark.parametrize(
    ("names", "chosen", "message"),
    [
        (
            ["foo", "passed"],
            Columns(),
            "x.csv: no column looks like the case; .*found foo, passed; name it with --case",
        ),
        (["case", "foo"], Columns(), "no column looks like the outcome.*--passed COLUMN or --score COLUMN"),
        (["case", "passed"], Columns(case="casse"), "no column 'casse'.*did you mean 'case'?"),
    ],
)
def test_missing_columns_are_named(names: list[str], chosen: Columns, message: str) -> None:
    with pytest.raises(InputError, match=message):
        guess_columns(names, "x.csv", chosen)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "case,passed\na,1\nb\n", "a.csv:3: a row of another width; expected 2 fields.*found 1 fields"),
        ("a.csv", "case,passed\na,1\n\nb,1\n", "a.csv:3: a row of another width.*found a blank line"),
        ("a.csv", "case,passed\na,maybe\n", "a.csv:2: passed: neither passed nor failed.*found maybe"),
        ("a.csv", 'case,note,passed\na,"x\ny",1\nb,z,2\n', "a.csv:4: passed: neither passed nor failed"),
        ("a.csv", "case,case\n", "a.csv:1: case: a column twice"),
        ("a.csv", "case,,passed\na,1,1\n", "a.csv:1: column 2: a column without a name"),
        ("a.csv", "", "a.csv:1: no header"),
        ("a.csv", 'case,passed\n"a,1\n', "a.csv: not CSV"),
        ("a.csv", "case,passed\n,1\n", "a.csv:2: case: no case"),
        ("a.csv", "case,run,passed\na,1,1\na,1,0\n", "a.csv:3: run: a case and run twice.*a/1, also on line 2"),
        ("a.csv", "case,run,passed\na,,1\n", "a.csv:2: run: no run"),
        ("a.csv", "case,score\na,7\n", "a.csv:2: score: a score outside 0 to 1.*--pass-at"),
        ("a.csv", "case,score\na,nan\n", "a.csv:2: score: non-finite number"),
        ("a.csv", "case,score\na,x\n", "a.csv:2: score: not a number"),
        ("a.csv", "case,passed,tokens\na,1,-3\n", "a.csv:2: tokens: no amount"),
        ("a.csv", "case,passed,status\na,1,missing\n", "a.csv:2: status: a missing cell can't have passed"),
        ("a.jsonl", '{"case":"a","passed":true}\n{"case":"b","passed":\n', "a.jsonl:2"),
        ("a.jsonl", '{"case":{},"passed":true}\n', "a.jsonl:1: case: not a name"),
        ("a.jsonl", '{"case":"a","passed":true,"tokens":true}\n', "a.jsonl:1: tokens: not a number"),
        ("a.parquet", "no", "a.parquet: not Parquet"),
        ("a.xlsx", "", "a.xlsx: this kind of file can't be read as a table.*found .xlsx"),
        ("a.json", "[]", "a.json: no report"),
    ],
)
def test_bad_input_is_named_with_its_place(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = write(tmp_path, name, text)
    with pytest.raises(InputError, match=message):
        load_grid(path, Columns())


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.csv: there is no such file; expected a file"):
        load_grid(tmp_path / "none.csv", Columns())
    (tmp_path / "latin.csv").write_bytes(b"case,passed\na,1\n\xe9,1\n")
    with pytest.raises(InputError, match=r"latin.csv:3: not UTF-8; expected UTF-8 text; found byte 0xe9"):
        load_grid(tmp_path / "latin.csv", Columns())
    with pytest.raises(InputError, match="no report in this folder"):
        load_grid(tmp_path, Columns())
    with pytest.raises(UsageError, match=r"nothing that can be compared.*found int"):
        load_grid(3, Columns())


def test_statuses_say_what_a_value_does_not(tmp_path: Path) -> None:
    text = "case,passed,status\na,,missing\nb,,infra_error\nc,,error\nd,,ok\ne,1,ok\nf,,passed\n"
    loaded = load_grid(write(tmp_path, "a.csv", text), Columns())
    flags = [(c.value, c.missing, c.unresolved) for c in loaded.grid.cells]
    assert flags == [
        (None, True, False),
        (None, False, True),
        (0.0, False, False),
        (None, False, False),
        (1.0, False, False),
        (1.0, False, False),
    ]
    assert loaded.grid.notes == (f"{tmp_path / 'a.csv'}: status 'ok' (1 cells) isn't known",)


def test_rows_without_a_run_column_are_the_runs_of_their_case(tmp_path: Path) -> None:
    loaded = load_grid(write(tmp_path, "a.csv", "case,passed\na,1\nb,1\na,0\n"), Columns())
    assert [(c.case, c.run) for c in loaded.grid.cells] == [("a", 1), ("b", 1), ("a", 2)]
    assert "no column of runs" in loaded.grid.notes[0]


def test_a_side_without_rows_has_every_cell_missing(tmp_path: Path) -> None:
    found = compare(write(tmp_path, "a.csv", as_csv(ROWS)), write(tmp_path, "b.jsonl", ""))
    assert (found.candidate.missing, found.candidate.low.passed) == (8, 0)
    assert found.notes[0].endswith("b.jsonl: no row, so every planned cell is missing")


def test_a_guessed_slice_that_changes_within_a_case_is_let_go(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "case,run,passed,kind\na,1,1,x\na,2,1,y\n")
    loaded = load_grid(path, Columns())
    assert loaded.columns is not None
    assert loaded.columns.slice is None
    assert loaded.grid.notes == (f"{path}: column 'kind' changes within a case, so it is no slice",)
    assert load_grid(path, Columns(slice="kind")).grid.cells[1].slice == "y"
    assert load_grid(path, Columns(slice="none")).grid.notes == ()
    with pytest.raises(InputError, match="no column 'none'"):
        load_grid(path, Columns(case="none"))


def report(**fields: Any) -> dict[str, Any]:
    cells = [
        {"case_id": "a", "run": 1, "slice": "s", "passed": True, "failures": []},
        {"case_id": "a", "run": 2, "slice": "s", "passed": False, "failures": ["missing"]},
        {"case_id": "b", "run": 1, "slice": "t", "passed": False, "failures": ["fact"], "outcome": "infra_error"},
        {"case_id": "b", "run": 2, "slice": "t", "passed": True, "failures": [], "usage": {"tokens": 7}},
    ]
    return {"dataset_sha256": "d", "grader_version": "g", "repeats": 2, "gate": "BLOCK", "cells": cells, **fields}


def test_a_report_is_a_grid_with_its_identity(tmp_path: Path) -> None:
    found = load_grid(write(tmp_path, "r.json", json.dumps(report())), Columns()).grid
    assert (found.identity.dataset, found.identity.grader, found.gate) == ("d", "g", "BLOCK")
    assert [(c.value, c.missing, c.unresolved) for c in found.cells] == [
        (1.0, False, False),
        (0.0, True, False),
        (0.0, False, True),
        (1.0, False, False),
    ]
    assert found.cells[3].tokens == 7
    write(tmp_path, "s.json", json.dumps(report(grader_version="h")))
    with pytest.raises(InputError, match="they differ in grader version: g and h"):
        compare(tmp_path / "r.json", tmp_path / "s.json")
    write(tmp_path, "t.json", json.dumps(report(cells=report()["cells"][:3])))
    with pytest.raises(InputError, match=r"they differ in planned cells: 4 cells.* and 3 cells"):
        compare(tmp_path / "r.json", tmp_path / "t.json")

    class Scored:
        def to_dict(self) -> dict[str, Any]:
            return report()

    class Finished:
        def __init__(self) -> None:
            self.report = report()

    assert compare(Scored(), Finished()).flips.unresolved == 1
    assert compare(report(), tmp_path / "r.json").planned == 4
    broken = report()
    broken["cells"][1]["passed"] = 1
    write(tmp_path, "u.json", json.dumps(broken))
    with pytest.raises(InputError, match=r"cells\[1\].passed: an odd value; expected bool; found 1"):
        load_grid(tmp_path / "u.json", Columns())


def test_a_run_brings_the_margin_that_its_plan_registered(tmp_path: Path) -> None:
    from proctor.codec.canonical import canonical_bytes, digest_bytes

    plan = canonical_bytes({"cases": [{"id": "a"}, {"id": "b"}], "gate": {"compare": {"margin": 0.25}}, "runs": 2})
    for name, digest in (("one", digest_bytes(plan)), ("two", "sha256:other")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.json").write_bytes(plan)
        write(tmp_path / name, "report.json", json.dumps(report(plan_digest=digest)))
    assert load_grid(tmp_path / "one", Columns()).grid.margin == 0.25
    assert load_grid(tmp_path / "two", Columns()).grid.margin is None
    rules = load_plan(tmp_path / "one" / "plan.json", Columns())
    assert (len(rules.cells), rules.margin) == (4, 0.25)
    table = write(tmp_path, "plan.csv", "case,run,slice\na,1,x\nb,1,y\n")
    assert [c.cell for c in load_plan(table, Columns(passed="ok")).cells] == ["a/1", "b/1"]
    with pytest.raises(InputError, match='expected an object with "cases" and "runs"'):
        load_plan(write(tmp_path, "no.json", "{}"), Columns())


def test_the_api_takes_frames_rows_paths_and_anything_with_a_grid(tmp_path: Path) -> None:
    class Run:
        def scored_grid(self) -> ScoredGrid:
            return load_grid(ROWS, Columns(), name="run").grid

    path = write(tmp_path, "a.csv", as_csv(ROWS))
    found = compare(path, Run(), case="ticket", passed="ok")
    assert found.planned == 8
    assert found.flips.both + found.flips.neither == 8
    assert compare(ROWS, Frame("to_dicts")).difference.value == 0
    assert found.to_dict()["interval"]["method"].startswith("CR1")
    assert [row.case for row in found.broken] == []
    assert len(found.broken) == 0
