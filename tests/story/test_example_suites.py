"""The example suites in the documentation, as a reader would try them: one needs no Python, one a grader by plug-in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import proctor as api
from records_kit import ROOT, proctor, write_jsonl

INVOICES = ROOT / "docs" / "examples" / "invoices"
PAYMENTS = ROOT / "docs" / "examples" / "payments"


def score_invoices(candidate: str) -> tuple[int, dict]:
    done = proctor(
        "score", INVOICES / "dataset.jsonl", INVOICES / f"{candidate}.jsonl", candidate, "--suite", INVOICES, "--json"
    )
    return done.returncode, json.loads(done.stdout)


def test_invoices_need_no_python() -> None:
    assert list(INVOICES.rglob("*.py")) == []
    code, report = score_invoices("reader-a")
    assert (code, report["gate"]) == (0, "PASS")
    assert report["failure_counts"] == {"terms": 1}
    assert report["repeats"] == 2
    assert report["traffic"]["rate"] == pytest.approx(0.7 + 0.1 + 0.2 * 3 / 4)


def test_invoices_block_for_the_slice_that_has_its_own_rule() -> None:
    code, report = score_invoices("reader-b")
    assert (code, report["gate"]) == (1, "BLOCK")
    assert report["failure_counts"] == {"amount": 1, "budget": 2, "items": 2, "terms": 1, "vendor": 2}
    broken = {rule["rule"] for rule in report["gate_basis"] if rule["held"] == "broken"}
    assert "slice.domestic.every_run" in broken
    assert "zero.budget" in broken


@pytest.mark.parametrize(
    ("found", "labels"),
    [(119.0, []), (119.01, []), (118.99, []), (119.010001, ["amount"]), (119, []), (119.02, ["amount"])],
)
def test_a_tolerance_holds_exactly_at_its_limit(found: float, labels: list[str]) -> None:
    case = api.load_jsonl(INVOICES / "dataset.jsonl")[0]
    row = api.load_jsonl(INVOICES / "reader-a.jsonl")[0]
    row["answer"]["total"] = found
    assert api.grade_record(case, row, suite=INVOICES) == labels


@pytest.mark.parametrize(
    ("field", "found", "labels"),
    [
        ("items", ["V-2", "R-1"], []),
        ("items", ["V-2", "R-1", "R-1"], []),
        ("items", ["R-1"], ["items"]),
        ("items", ["R-1", "V-2", "X"], ["items"]),
        ("vendor", "blumen\u00a0krause", []),
        ("vendor", "Blumen Krauser", ["vendor"]),
        ("due", None, ["terms"]),
        ("currency", "GBP", ["schema"]),
        ("total", True, ["schema"]),
        ("total", "119", ["schema"]),
    ],
)
def test_fields_of_an_invoice(field: str, found: object, labels: list[str]) -> None:
    case = api.load_jsonl(INVOICES / "dataset.jsonl")[0]
    row = api.load_jsonl(INVOICES / "reader-a.jsonl")[0]
    row["answer"][field] = found
    assert api.grade_record(case, row, suite=INVOICES) == labels


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own in which the graders' package is installed; its interpreter."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "outer.pth").write_text("\n".join([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]) + "\n")
    shutil.copytree(PAYMENTS / "acme_graders", site / "acme_graders", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "acme_graders-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-graders\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[proctor.graders]\niban = acme_graders:iban\n")
    return folder / "bin" / "python"


@pytest.mark.parametrize(("candidate", "code"), [("payer-a", 0), ("payer-b", 1)])
def test_payments_find_their_grader_by_its_entry_point(environment: Path, candidate: str, code: int) -> None:
    arguments = ["score", PAYMENTS / "dataset.jsonl", PAYMENTS / f"{candidate}.jsonl", candidate]
    done = subprocess.run(
        [environment, "-m", "proctor", *map(str, arguments), "--suite", str(PAYMENTS), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    report = json.loads(done.stdout)
    assert report["failure_counts"] == ({} if code == 0 else {"account": 1})
    if code:
        assert any(r["rule"] == "critical" and r["held"] == "broken" for r in report["gate_basis"])


def test_a_grader_that_is_not_installed_is_named() -> None:
    done = proctor("score", PAYMENTS / "dataset.jsonl", PAYMENTS / "payer-a.jsonl", "payer-a", "--suite", PAYMENTS)
    assert done.returncode == 2
    assert "no installed package has the grader 'iban'" in done.stderr


OWN = """
import os
from proctor import Evidence, Grade, grader

@grader(codes={"account": "another account"})
def account(e: Evidence) -> Grade:
    text = e.case["input"]["text"]
    if text == "raise":
        raise RuntimeError("broken")
    if text == "die":
        os._exit(3)
    if text == "none":
        return None
    return e.ok() if e.answer["iban"] == e.key["iban"] else e.fail("account")
"""


def own_suite(folder: Path, texts: list[str]) -> tuple[Path, Path, Path]:
    suite = folder / "suite"
    suite.mkdir()
    toml = (PAYMENTS / "suite.toml").read_text(encoding="utf-8").replace("plugin:iban", "grader.py:account")
    (suite / "suite.toml").write_text(toml, encoding="utf-8")
    (suite / "grader.py").write_text(OWN, encoding="utf-8")
    answer = {"iban": "X", "amount": 1}
    cases = [
        {"version": "payments-v1", "id": f"P{n}", "slice": "normal", "input": {"text": text}, "expected": answer}
        for n, text in enumerate(texts)
    ]
    base = {"version": "payments-v1", "candidate": "c", "run": 1, "status": "ok", "answer": answer}
    rows = [{**base, "case_id": case["id"]} for case in cases]
    return suite, write_jsonl(folder / "d.jsonl", cases), write_jsonl(folder / "r.jsonl", rows)


def test_a_grader_in_the_suites_folder_may_raise_or_die_and_costs_its_cell_only(tmp_path: Path) -> None:
    suite, dataset, results = own_suite(tmp_path, ["die", "raise", "none", *["fine"] * 97])
    done = proctor("score", dataset, results, "c", "--suite", suite, "--json")
    report = json.loads(done.stdout)
    assert report["failure_counts"] == {"grader_error": 3}
    assert (done.returncode, report["gate"]) == (0, "PASS")
    assert report["overall_bounds"] == {"low": 0.97, "high": 1.0, "unresolved": 3}


def test_cells_that_nobody_graded_make_it_undecided_or_invalid(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    suite, dataset, results = own_suite(tmp_path / "a", ["raise"] * 5 + ["fine"] * 95)
    toml = suite / "suite.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("rate = 0.95", "rate = 0.98"), encoding="utf-8")
    done = proctor("score", dataset, results, "c", "--suite", suite)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (3, "c: 95/100 (95.0%) gate=UNDECIDED")
    suite, dataset, results = own_suite(tmp_path / "b", ["raise"] * 6 + ["fine"] * 94)
    done = proctor("score", dataset, results, "c", "--suite", suite, "--out", tmp_path / "report.json")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "c: 94/100 (94.0%) gate=INVALID")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["gate"] == "INVALID"
