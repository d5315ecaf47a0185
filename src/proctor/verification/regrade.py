"""Grading again as a part of verification: the recorded grades and the report must come out byte by byte.

This runs the code of the suite that the run keeps, in the graders' own process; ``proctor verify --no-code`` leaves it
out and says so. Left out: grading with another suite, which is ``proctor grade``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import EvidenceError, InfrastructureError, ProctorError
from proctor.ledger.checks import Finding
from proctor.runner.folder import RunFolder
from proctor.runner.observed import OBSERVED_FILE, ObservedUse
from proctor.runner.regrade import regrade
from proctor.verification.model import RegradeAnswer

__all__ = ["grade_again"]

_encode = msgspec.json.Encoder().encode


def grade_again(run: Path) -> RegradeAnswer:
    """Grade ``run`` from its record. A difference is a finding; that the graders could not run is the status."""
    try:
        cells, report, observed = regrade(run)
    except InfrastructureError as error:
        return RegradeAnswer(status=f"not done: {error.message}")
    except EvidenceError as error:
        return RegradeAnswer(status="failed", findings=(Finding.of(error, _file(error, run)),))
    except ProctorError as error:
        return RegradeAnswer(status=f"not done: {error.message}")
    findings = _cells(run, [_encode(cell) for cell in cells])
    findings += _report(run, report)
    findings += _observed(run, observed)
    return RegradeAnswer(status="differs" if findings else "done", findings=tuple(findings))


def _file(error: EvidenceError, run: Path) -> str:
    """The place of an error, relative to the run."""
    name = (error.place.file if error.place else None) or "cells.jsonl"
    return name.removeprefix(f"{run}/")


def _cells(run: Path, rows: list[bytes]) -> list[Finding]:
    """``cells.jsonl`` against the new rows, in whichever order the cells were graded."""
    recorded = (run / "cells.jsonl").read_bytes().split(b"\n")[:-1]
    fresh = set(rows)
    return [
        Finding.at(
            "cells.jsonl",
            "regrade_differs",
            "graded again from the record, this cell comes out otherwise",
            field=f"line {line}",
            expected="the same row",
            found=row[:60].decode("utf-8", "replace"),
        )
        for line, row in enumerate(recorded, 1)
        if row not in fresh
    ]


def _observed(run: Path, observed: ObservedUse) -> list[Finding]:
    """``isolation.observed.json`` against what the record says."""
    path = run / OBSERVED_FILE
    if path.is_file() and path.read_bytes() == RunFolder.as_json(observed):
        return []
    return [Finding.at(OBSERVED_FILE, "observed_differs", "made again from the record, what was observed differs")]


def _report(run: Path, report: dict[str, Any]) -> list[Finding]:
    """``report.json`` against the report made again, naming the first of its fields that differ."""
    data = (run / "report.json").read_bytes()
    again = msgspec.json.format(_encode(report), indent=1) + b"\n"
    if data == again:
        return []
    old, new = msgspec.json.decode(data), msgspec.json.decode(again)
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)] if isinstance(old, dict) else []
    return [
        Finding.at(
            "report.json",
            "report_differs",
            "made again from the record, the report comes out otherwise",
            field=", ".join(differing[:8]) or None,
        )
    ]
