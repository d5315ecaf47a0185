"""The basic scorer on small tables, each showing one rule; and large ones that go to disk."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.kinds import Verdict
from proctor.score import _csv_table, final_state_files
from proctor.score._row_records import RowRecords
from proctor.score.final_state import EXTERNAL_CHECKS, FinalState
from proctor.score.final_state_files import score_final_state


@pytest.fixture
def score(tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(expected: str, candidate: str, keep_rows: int = 1_000_000) -> FinalState:
        paths = [tmp_path / "e.csv", tmp_path / "c.csv"]
        for path, text in zip(paths, (expected, candidate), strict=True):
            path.write_bytes(text.encode())
        return score_final_state(*paths, keep_rows=keep_rows)

    return run


def test_equal_tables_pass(score) -> None:  # type: ignore[no-untyped-def]
    state = score("file_id,x\nA,1\n", "x,file_id\n1,A\n")
    assert state.is_pass and state.verdict is Verdict.PASS and state.product == 1.0
    assert state.to_dict()["pilot_pass"] is None
    assert state.to_dict()["external_checks_required"] == list(EXTERNAL_CHECKS)


@pytest.mark.parametrize(
    ("expected", "candidate", "accuracy"),
    [
        ("file_id,x\nA,1\n", "file_id,x\nA,01\n", 0.0),  # text, not numbers
        ("file_id,x\nA,1\n", "file_id,x\nA,1 \n", 0.0),
        ("file_id,x\nA,NULL\n", "file_id,x\nA,\n", 0.0),
        ("file_id,x\nA,\n", "file_id,x\nA\n", 0.0),  # empty is not absent
        ("file_id,x\nA,\n", "file_id\nA\n", 0.0),
        ("file_id,x\nA\n", "file_id\nA\n", 1.0),  # absent on both sides
        ("file_id,x\nA,1\n", "file_id,x\nA,1,extra\n", 1.0),
        ("file_id,x\nA,1\n", 'file_id,x\n"A","1"\n', 1.0),  # quoting is no difference
        ("file_id,x\nA,1\n", "file_id,x\r\nA,1\r\n", 1.0),
        ("file_id,x\nA,1\n", "file_id,x\nA,2\nA,1\n", 1.0),  # the last row counts
        ("file_id,x\nA,1\n", "file_id,x\nA,1\nA,2\n", 0.0),
        ("file_id,x\nA,2\nA,1\n", "file_id,x\nA,1\n", 1.0),  # in EXPECTED too
        ('file_id,x\nA,"a\nb"\n', 'file_id,x\nA,"a\r\nb"\n', 0.0),
        ('file_id,x\nA,5" disk\n', 'file_id,x\nA,"5"" disk"\n', 1.0),
        ("file_id,x\nA,é\n", "file_id,x\nA,e\u0301\n", 0.0),
        ("file_id\nA\n", "file_id\nA\n", 0.0),  # no columns to compare: a share of nothing
        ("file_id,x,y\nA,1,2\nB,1,2\n", "file_id,x,y\nA,1,0\n", 0.25),
    ],
)
def test_field_accuracy(score, expected: str, candidate: str, accuracy: float) -> None:  # type: ignore[no-untyped-def]
    assert score(expected, candidate).field_accuracy == accuracy


def test_ids(score) -> None:  # type: ignore[no-untyped-def]
    state = score("file_id,x\nA,1\nB,1\nC,1\n", "file_id,x\nA,1\nGHOST,1\n,1\n")
    assert (state.completeness, state.precision, state.uniqueness) == (1 / 3, 0.5, 0.0)
    assert state.order_correctness == 0.0
    assert state.verdict is Verdict.BLOCK
    assert score("file_id,x\nA,1\n", "file_id,x\nA,1\n\n\n").uniqueness == 1.0  # blank lines are no rows
    assert score("file_id,x\nA,1\nB,2\n", "file_id,x\nB,2\nA,1\n").order_correctness == 0.0


@pytest.mark.parametrize(
    ("expected", "errors"),
    [
        ("file_id,x\n", ("expected set is empty",)),
        ("file_id,x\nA,1\n,2\n", ("expected set contains an empty file_id",)),
        ("x,file_id\n1,A\n2\n", ("expected set contains an empty file_id",)),  # an absent id is empty
        ("file_id,x\nA,1\nA,1\n", ("expected set contains duplicate file_id values",)),
        (
            "file_id,x\n,1\nA,1\nA,1\n",
            ("expected set contains an empty file_id", "expected set contains duplicate file_id values"),
        ),
    ],
)
def test_configuration_errors(score, expected: str, errors: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    state = score(expected, expected)
    assert state.configuration_errors == errors
    assert state.verdict is Verdict.INVALID and not state.is_pass


def test_a_column_that_is_not_compared_may_stand_twice(score) -> None:  # type: ignore[no-untyped-def]
    assert score("file_id,x\nA,1\n", "file_id,x,,\nA,1,,\n").is_pass


def make_large(rows: int, seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    lines = [f'F{i:05d},"n, {i % 7}",{"é" * (i % 5)},{"w" * (i % 300)}\n' for i in range(rows)]
    changed = [line.replace("n, 3", "n, 4") if i % 50 == 3 else line for i, line in enumerate(lines)]
    chance.shuffle(changed)
    return "file_id,a,b,c\n" + "".join(lines), "file_id,a,b,c\n" + "".join(changed)


def test_records_on_disk_change_nothing(score, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    pair = make_large(5_000, 1)
    divided = []
    divide = RowRecords._move_to_disk

    def note(self: RowRecords) -> None:
        divided.append(1)
        divide(self)

    monkeypatch.setattr(RowRecords, "_move_to_disk", note)
    in_memory = score(*pair)
    assert not divided
    monkeypatch.setattr(_csv_table, "_BLOCK_BYTES", 10_000)
    monkeypatch.setattr(final_state_files, "_LOOK_UP_ROWS", 7)
    assert score(*pair, keep_rows=1_000) == in_memory
    assert len(divided) == 2
    wrong = sum(1 for i in range(5_000) if i % 50 == 3 and i % 7 == 3)
    assert in_memory.field_accuracy == (15_000 - wrong) / 15_000


def test_rows_longer_than_a_block(score) -> None:  # type: ignore[no-untyped-def]
    rows = "".join(f"F{i},{'x' * 100_000}\n" for i in range(20))
    assert score("file_id,x\n" + rows, "file_id,x\n" + rows).is_pass
    wide = "file_id," + ",".join(f"c{i}" for i in range(20)) + "\nA" + f",{'y' * 60_000}" * 20 + "\n"
    assert score(wide, wide).is_pass
    with pytest.raises(InputError, match=r"c\.csv:2: a cell is too large; expected at most 131,072 characters"):
        score("file_id,x\nA,1\n", f"file_id,x\nA,{'x' * 200_000}\n")


def test_a_file_that_changes_meanwhile(score, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    states = iter(range(100))
    monkeypatch.setattr(_csv_table.CsvTable, "_state", lambda self: (next(states), 0))
    with pytest.raises(InputError, match="the file changed while it was read; expected a file that nothing writes"):
        score("file_id,x\nA,1\n", "file_id,x\nA,1\n")
