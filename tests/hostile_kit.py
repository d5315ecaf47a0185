"""The hostile agent on the refund suite: a case for each of its programs, between honest ones."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from proctor.ledger.keys import install_signer
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from refund_kit import copy_suite, edit

HOSTILE = Path(__file__).parent / "power" / "hostile"
SECRET = "a-secret-of-the-supervisor"
KEY = "the-answer-key-of-this-suite"


def _suite(folder: Path, names: list[str]) -> Path:
    """The refund suite with a hostile case of each name between honest ones."""
    suite = copy_suite(folder)
    edit(suite, "suite.toml", "seconds = 90", "seconds = 20")
    honest = [json.loads(line) for line in (suite / "cases.jsonl").read_text().splitlines()]
    lost = next(case for case in honest if case["id"] == "R07")
    cases = [honest[0]]
    for name in names:
        cases.append(lost | {"id": f"H-{name}", "slice": "hostile", "key": KEY})
    cases.append(honest[1])
    (suite / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return suite


def run_hostile(folder: Path, tier: Any, names: list[str], *, runs: int = 1) -> FinishedRun:
    """Run the hostile agent in the cases ``H-NAME``. ``PROCTOR_HOME`` must be set."""
    agents = Path(shutil.copytree(HOSTILE, folder / "agent", ignore=shutil.ignore_patterns("__pycache__")))
    suite, out = _suite(folder, names), folder / "runs" / "hostile"
    home = Path(os.environ["PROCTOR_HOME"])
    key = install_signer(os.environ).private_text()
    targets = {
        "secrets": [SECRET, KEY, key],
        "files": [
            str(suite / "cases.jsonl"),
            str(suite / "grader.py"),
            str(home / "signing.key"),
            *(
                str(out / name)
                for name in ("ledger/wal", "ledger/workers/00/wal", "texts/00", "cells.jsonl", "plan.json")
            ),
        ],
        "folders": [str(folder / "runs"), str(suite), str(home)],
        "sizes": sorted({path.stat().st_size for path in [*suite.iterdir(), agents / "agent.py"] if path.is_file()}),
        "python": sys.executable,
        "mark": str(folder),
        "most_bytes": 64 * 1024**2,
    }
    (agents / "targets.json").write_text(json.dumps(targets))
    here = Path.cwd()
    os.chdir(agents)
    try:
        return run_suite(
            RunRequest(suite=str(suite), agent=f"cmd:{sys.executable} agent.py", runs=runs, isolation=tier, out=out)
        )
    finally:
        os.chdir(here)


def trace_of(run: FinishedRun, case: str, number: int = 1) -> list[dict[str, Any]]:
    """The rows of a cell's trace."""
    lines = (run.folder / "traces" / f"{case}.{number}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def loot_of(run: FinishedRun, case: str, number: int = 1) -> list[str]:
    """Everything that the agent brought out of a cell."""
    rows = [row for row in trace_of(run, case, number) if row["action"] == "loot"]
    return [thing for row in rows for thing in row["args"]["things"]]
