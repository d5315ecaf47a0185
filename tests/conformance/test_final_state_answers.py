"""Known answers for the basic scorer: every key but the free text, in order, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli.score_final_state import score_final_state

GOLDEN = Path(__file__).parents[1] / "golden" / "final-state"
KEYS = [
    "scorer_scope",
    "completeness",
    "precision",
    "uniqueness",
    "field_accuracy",
    "order_correctness",
    "configuration_errors",
    "Perf_shadow_final_state",
    "scorer_pass",
    "pilot_pass",
    "external_checks_required",
]


def check(folder: Path) -> None:
    known = json.loads((folder / "result.json").read_text("utf-8"))
    paths = [str(folder / "expected.csv"), str(folder / "candidate.csv")]
    run = CliRunner().invoke(score_final_state, paths, standalone_mode=False)
    assert run.exception is None, run.exception
    found = json.loads(run.stdout)
    assert list(found) == KEYS
    scope = found.pop("scorer_scope")
    assert scope.count(".") == 1 and all(check in scope for check in found["external_checks_required"])
    assert json.dumps(found) == json.dumps(known)
    assert run.return_value == (2 if known["configuration_errors"] else 0 if known["scorer_pass"] else 1)


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_kept_answers(name: str) -> None:
    check(GOLDEN / name)


def test_known_answers(conformance: Path) -> None:
    folders = sorted((conformance / "final-state").iterdir())
    assert len(folders) >= 17
    for folder in folders:
        check(folder)
