"""The published schema of a trace says what the harness writes: every field, its type, its allowed values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.ledger.entries import Decision
from proctor.ledger.trace import Step, trace_row

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "trace.schema.json").read_text(encoding="utf-8"))
TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "null": type(None)}
STEPS = [
    Step(step=1, event=7, cycle=1, actor="agent", action="get_case", args={"case_id": "C-1"}, result={"id": "C-1"}),
    Step(step=2, event=8, cycle=1, actor="agent", action="shred", args=None, result=None, decision="unknown_tool"),
    Step(
        step=3,
        event=9,
        cycle=2,
        actor="agent",
        action="set_status",
        args={},
        result=None,
        error="temporary",
        fault="temporary",
        fault_phase="after",
        world_result={"status": "complete"},
    ),
    Step(step=4, event=10, cycle=2, actor="world", action="add_file", args={}, result=None),
    Step(step=5, event=11, cycle=2, actor="user", action="say", args={"text": "?"}, result={"text": "!", "done": True}),
]


def problems(row: dict[str, Any]) -> list[str]:
    """What a row says that the schema doesn't allow."""
    found = [f"{name} is missing" for name in SCHEMA["required"] if name not in row]
    for name, value in row.items():
        rule = SCHEMA["properties"].get(name)
        if rule is None:
            found.append(f"{name} is unknown")
            continue
        if "enum" in rule and value not in rule["enum"]:
            found.append(f"{name}: {value!r}")
        kinds = rule.get("type", [])
        allowed = [TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        if allowed and type(value) not in allowed:
            found.append(f"{name}: {type(value).__name__}")
        if isinstance(value, int) and value < rule.get("minimum", value):
            found.append(f"{name}: {value} is too small")
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.action)
def test_what_is_written_is_what_the_schema_says(step: Step) -> None:
    row = trace_row("run", "D001", 1, "D001/1.0", step)
    assert problems(row) == []
    assert list(row) == list(SCHEMA["properties"])


@pytest.mark.parametrize(
    "change", [{"actor": "judge"}, {"step": 0}, {"step": "1"}, {"extra": 1}, {"took_effect": None}]
)
def test_what_the_schema_does_not_say_is_noticed(change: dict[str, Any]) -> None:
    assert len(problems({**trace_row("run", "D001", 1, "D001/1.0", STEPS[0]), **change})) == 1


def test_the_decisions_are_the_gateways() -> None:
    assert set(SCHEMA["properties"]["decision"]["enum"]) == set(Decision)
