"""What tests of recorded evaluations share: rows of the helpdesk suite, and running the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
POLICY: dict[str, tuple[str, int | None]] = {"normal": ("normal", 24), "urgent": ("urgent", 4)}


def answer_for(severity: str) -> dict[str, Any]:
    label, hours = POLICY.get(severity, ("abstain", None))
    return {"label": label, "sla_hours": hours, "evidence": ["policy-v1"]}


def case(number: int = 1, severity: str = "normal", slice_name: str = "common", note: str = "hello") -> dict[str, Any]:
    return {
        "version": "helpdesk-v1",
        "id": f"C{number:02d}",
        "slice": slice_name,
        "input": {"severity": severity, "note": note},
        "expected": answer_for(severity),
        "allowed": [{"tool": "read", "target": "policy-v1"}],
        "budget": {"tokens": 200, "latency_ms": 500},
    }


def result(of: dict[str, Any], run: int = 1, candidate: str = "cand") -> dict[str, Any]:
    return {
        "version": "helpdesk-v1",
        "candidate": candidate,
        "case_id": of["id"],
        "run": run,
        "status": "ok",
        "answer": answer_for(of["input"]["severity"]),
        "actions": [{"tool": "read", "target": "policy-v1"}],
        "usage": {"tokens": 80, "latency_ms": 120},
    }


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="\n")
    return path


def proctor(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "proctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        timeout=120,
        check=False,
    )
