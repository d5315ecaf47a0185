"""The compare command as people meet it: output, columns on stderr, messages, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.cli.main import main


def write(path: Path, passed: dict[str, str], category: bool = True) -> str:
    """One character a run and case: 1 passed, 0 failed, i infrastructure error."""
    lines = ["ticket,trial,ok,status,category,total_tokens"]
    for case, runs in passed.items():
        for run, mark in enumerate(runs, start=1):
            ok, status = ("", "infra_error") if mark == "i" else (mark, "ok")
            lines.append(f"{case},{run},{ok},{status},{'fraud' if case < 'T10' else 'late'},{100 + run}")
    path.write_text("\n".join(lines) + "\n")
    return path.name


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["compare", *arguments])
    out, err = capsys.readouterr()
    return int(str(ended.value.code)), out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old.csv", {f"T{i:02}": "111" if i % 3 else "110" for i in range(30)})
    write(tmp_path / "good.csv", {f"T{i:02}": "111" for i in range(30)})
    write(tmp_path / "bad.csv", {f"T{i:02}": "100" if i < 20 else "111" for i in range(30)})
    write(tmp_path / "same.csv", {f"T{i:02}": "111" if i % 3 != 1 else "110" for i in range(30)})
    write(tmp_path / "infra.csv", {f"T{i:02}": "i11" if i < 9 else "111" for i in range(30)})
    return tmp_path


WORSE = """\
WORSE: bad.csv is worse than old.csv: the rate fell by 33.3 points, 95% interval
  -46.4 to -17.7.

90 planned cells of 30 cases; the case is the independent unit

                     passed    rate   95% interval       missing  unknown
  baseline            80/90   88.9%   82.9% to 94.9%           0        0
  candidate           50/90   55.6%   43.6% to 67.5%           0        0
  difference         -33.3 points   -46.4 to -17.7      p < 0.001

cells: 3 fixed, 33 broken, 47 passed by both, 7 by neither
  broken most: T01 [fraud] 3→1 of 3, T02 [fraud] 3→1 of 3, T04 [fraud] 3→1 of 3,
    T05 [fraud] 3→1 of 3, T07 [fraud] 3→1 of 3, and 15 more
  fixed most: T21 [late] 2→3 of 3, T24 [late] 2→3 of 3, T27 [late] 2→3 of 3

slices, worst first (p Holm-adjusted over 2):
  fraud             86.7% →  33.3%   -53.3  -67.1 to -21.7      p = 0.002
  late              90.0% →  66.7%   -23.3  -40.9 to -3.4       p = 0.022

power: 30 independent cases find a true difference of 17.9 points in 80 of 100
  such comparisons

costs: not compared: the candidate isn't shown to be as good
"""


def test_a_worse_candidate_reads_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "old.csv", "bad.csv")
    assert out == WORSE
    assert code == 1
    assert err == (
        "old.csv: case=ticket run=trial passed=ok slice=category status=status tokens=total_tokens (90 rows)\n"
        "bad.csv: case=ticket run=trial passed=ok slice=category status=status tokens=total_tokens (90 rows)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "first"),
    [
        (("old.csv", "good.csv"), 0, "BETTER: good.csv is better than old.csv: the rate rose by 11.1 points,"),
        (("old.csv", "same.csv"), 3, "CAN'T TELL: the two rates are equal, 95% interval"),
        (("old.csv", "infra.csv"), 2, "INVALID: no answer can be had from these results."),
        (
            ("old.csv", "same.csv", "--margin", "0.15"),
            0,
            "!! RULE CHOSEN AFTER THE RESULTS: the margin stands in no registered plan",
        ),
    ],
)
def test_each_verdict_and_its_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, first: str
) -> None:
    got, out, _ = run(capsys, *arguments)
    assert out.splitlines()[0].startswith(first)
    assert got == code
    assert all(len(line) <= 80 for line in out.splitlines())


def test_two_candidates_in_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["agent,ticket,ok"]
    lines += [f"{agent},T{i},{int(i < good)}" for agent, good in (("v1", 10), ("v2", 25)) for i in range(30)]
    (folder / "both.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = run(capsys, "both.csv", "both.csv", "--old-where", "agent=v1", "--new-where", "agent=v2")
    assert out.startswith("BETTER: v2 of both.csv is better than v1 of both.csv: the rate rose by 50.0\n  points,")
    assert code == 0
    code, _, err = run(capsys, "both.csv", "both.csv", "--run", "agent")
    assert code == 3
    assert "both.csv: case=ticket run=agent passed=ok (60 rows)" in err


def test_json_is_the_whole_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "old.csv", "good.csv", "--json", "--interval", "percentile", "--seed", "7")
    document = json.loads(out)
    assert (document["verdict"], document["outcome"], document["exit_code"], code) == ("better", "PASS", 0, 0)
    assert (document["seed"], document["planned"]) == (7, 90)
    assert run(capsys, "old.csv", "good.csv", "--json", "--interval", "percentile", "--seed", "7")[1] == out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("old.csv", "none.csv"), 2, "proctor: none.csv: there is no such file; expected a file (.csv"),
        (("old.csv", "good.csv", "--case", "tickets"), 2, "old.csv: no column 'tickets'; expected one of ticket,"),
        (("old.csv", "good.csv", "--margin", "3"), 64, "proctor: no margin; expected more than 0, less than 1"),
        (("old.csv", "old.csv", "--old-where", "trial"), 64, "--old-where names no column; expected --old-where COL"),
        (("old.csv", "old.csv", "--new-where", "agent=x"), 2, "old.csv: no column 'agent'; expected one of ticket,"),
        (("old.csv", "old.csv", "--new-where", "trial=9"), 2, "old.csv: no row with trial '9'"),
        (("old.csv",), 64, "Missing argument 'NEW'"),
        (("old.csv", "good.csv", "--interval", "t"), 64, "'t' is not one of"),
    ],
)
def test_faults_say_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, message: str
) -> None:
    got, out, err = run(capsys, *arguments)
    assert (got, out) == (code, "")
    assert message in err


def test_help_fits_and_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "Exit code: 0 better, or not worse by more than the margin · 1 worse" in out


def test_the_public_name() -> None:
    import proctor

    assert proctor.compare([{"case": "a", "passed": 1}], [{"case": "a", "passed": 0}]).verdict == "can't tell"
