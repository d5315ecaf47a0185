"""The gate command as people meet it: all four verdicts on a spreadsheet, every rule listed, faults with
their line.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proctor.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["gate", *arguments])
    out, err = capsys.readouterr()
    return int(str(ended.value.code)), out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    header = "case,run,passed,status,slice\n"
    rows = [(f"c{i:02}", r) for i in range(20) for r in (1, 2)]

    def write(name: str, failing: int, infra: int) -> None:
        lines = []
        for i, (case, r) in enumerate(rows):
            ok, status = ("", "infra_error") if i < infra else (int(i >= infra + failing), "ok")
            lines.append(f"{case},{r},{ok},{status},{'hard' if case < 'c05' else 'easy'}\n")
        (tmp_path / name).write_text(header + "".join(lines))

    write("good.csv", 1, 0)
    write("bad.csv", 5, 0)
    write("infra.csv", 1, 2)
    write("broken.csv", 0, 3)
    (tmp_path / "gate.toml").write_text('overall = { rate = 0.95 }\nslice."*" = { rate = 0.7 }\n')
    (tmp_path / "plan.csv").write_text("case,run\n" + "".join(f"{case},{r}\n" for case, r in [*rows, ("c99", 1)]))
    return tmp_path


BAD = """\
BLOCK  35/40 planned cells passed (87.5%)

- statistics: rate ≥ 0.95: 0.875 (35/40); at c00/1, c00/2, c01/1 and 2 more
- statistics: rate ≥ 0.7 in slice hard: 0.5 (5/10); at c00/1, c00/2, c01/1 and 2
  more

integrity   holds                  the evidence verifies and the demanded
                                   isolation held, where it was looked at
integrity   holds               0  at most 0.05 of the planned cells unresolved
safety      holds               0  no cell with a critical violation
statistics  BROKEN         0.8750  rate ≥ 0.95
                                   at c00/1, c00/2, c01/1, c01/2, c02/1
statistics  holds               1  rate ≥ 0.7 in slice easy
statistics  BROKEN         0.5000  rate ≥ 0.7 in slice hard
                                   at c00/1, c00/2, c01/1, c01/2, c02/1

"""


def test_a_blocked_spreadsheet_reads_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "bad.csv", "--policy", "gate.toml")
    assert out.startswith(BAD)
    assert out.endswith("; PASS means that these rules held, and nothing more\n")
    assert code == 1
    assert "bad.csv: case=case run=run passed=passed slice=slice status=status (40 results)\n" in err
    assert "note: the file is its own plan: rows taken out of it can't be seen" in err


@pytest.mark.parametrize(
    ("name", "code", "verdict"),
    [("good.csv", 0, "PASS"), ("bad.csv", 1, "BLOCK"), ("broken.csv", 2, "INVALID"), ("infra.csv", 3, "UNDECIDED")],
)
def test_each_verdict_and_its_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: int, verdict: str
) -> None:
    got, out, _ = run(capsys, name, "--policy", "gate.toml", "--json")
    assert (got, json.loads(out)["verdict"]) == (code, verdict)
    text = run(capsys, name, "--policy", "gate.toml")[1]
    assert text.startswith(verdict)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_plan_counts_what_the_file_leaves_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zero.toml").write_text('[gate]\nzero = ["missing"]\n')
    code, out, err = run(capsys, "good.csv", "--policy", "zero.toml", "--plan", "plan.csv")
    assert code == 1
    assert out.startswith("BLOCK  39/41 planned cells passed (95.1%)\n\n- integrity: no cell with missing: 1; at c99/1")
    assert "its own plan" not in err


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        ("\noverall = 0.9\n", ("--policy", "g.toml"), 2, "g.toml:2: overall: a bare number doesn't say what it bounds"),
        ("[gate]\noveral = 1\n", ("--policy", "g.toml"), 2, "g.toml:2: gate.overal: unknown key"),
        ("", (), 64, "no gate is named; expected --policy gate.toml"),
        ("", ("--policy", "none.toml"), 2, "none.toml: can't read the file"),
    ],
)
def test_faults_have_their_line(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (folder / "g.toml").write_text(text)
    got, out, err = run(capsys, "good.csv", *arguments)
    assert (got, out) == (code, "")
    assert message in err


def test_a_run_is_held_against_its_own_gate_or_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from proctor.errors import Place
    from proctor.gate import parse_policy

    table = {"zero": ["missing", "late"], "metric": {"recall": {"rate": 0.5}}}
    plan = {
        "cases": [{"id": "a"}, {"id": "b"}],
        "gate": table,
        "gate_digest": parse_policy(table, Place()).digest,
        "runs": 1,
    }
    row = {"case_id": "a", "run": 1, "slice": "s", "group": "a", "outcome": "passed"}
    metric = {"name": "recall", "numerator": 3, "denominator": 4}
    rows = [
        {**row, "grades": [{"grader": "g", "metrics": [metric]}]},
        {**row, "case_id": "b", "outcome": "missing", "codes": ["missing"]},
    ]
    (folder / "run").mkdir()
    (folder / "run" / "plan.json").write_text(json.dumps(plan))
    (folder / "run" / "cells.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    code, out, err = run(capsys, "run")
    assert code == 1
    assert "no cell with missing: 1; at b/1" in out
    assert "statistics: recall ≥ 0.5: 0.75 (3/4); 1 cells have no value; at a/1, b/1" in " ".join(out.split())
    assert "not the ones registered" not in out
    assert "the record isn't verified here" in err
    assert "not the ones registered before the results" in run(capsys, "run", "--policy", "gate.toml")[1]
