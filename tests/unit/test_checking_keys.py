"""Delivered keys: each mistake is found, with its field, and a right key has none."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import intake_kit as kit
from proctor.checking.check import check_suite
from proctor.checking.model import Mistake
from proctor.grade.keys import key_schema

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "key.schema.json"


def check(folder: Path, change: Callable[[dict[str, Any]], object], number: int = 1) -> list[Mistake]:
    """The mistakes of a suite of one case whose key was changed."""
    suite = Path(shutil.copytree(kit.suite().folder, folder / "intake", ignore=shutil.ignore_patterns("agents")))
    case = copy.deepcopy(kit.cases()[number])
    change(case["key"])
    (suite / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    text = (suite / "suite.toml").read_text(encoding="utf-8").replace("corpus.py:cases", "cases.jsonl")
    lines = [line for line in text.split("\n") if not line.startswith(("agents", "demo", "corpus"))]
    (suite / "suite.toml").write_text("\n".join(lines), encoding="utf-8")
    return [mistake for mistake in check_suite(suite).mistakes if mistake.level == "mistake"]


def test_a_right_key_has_no_mistake(tmp_path: Path) -> None:
    assert check(tmp_path, lambda key: None) == []


MISTAKES: dict[str, tuple[Callable[[dict[str, Any]], object], str, str]] = {
    "unknown part": (lambda key: key.update(statu="new"), "unknown_key", "key.statu"),
    "unknown code": (lambda key: key.update(reason_codes=["wrong_que"]), "unknown_code", "key.reason_codes[0]"),
    "unknown status": (lambda key: key.update(status="done"), "unknown_status", "key.status"),
    "complete and lacking": (lambda key: key.update(status="complete"), "impossible_outcome", "key.outstanding"),
    "waiting for nothing": (lambda key: key.update(outstanding=[]), "impossible_outcome", "key.outstanding"),
    "link to itself": (
        lambda key: key.update(links=[{"kind": "prior_case", "target": key["case_id"]}]),
        "impossible_outcome",
        "key.links[0]",
    ),
    "unknown kind of link": (
        lambda key: key.update(links=[{"kind": "twin_of", "target": key["case_id"]}]),
        "unknown_kind",
        "key.links[0].kind",
    ),
    "link to nowhere": (
        lambda key: key.update(links=[{"kind": "prior_case", "target": "C-1"}]),
        "key_contradicts_world",
        "key.links[0].target",
    ),
    "no such queue": (lambda key: key.update(queue="wating"), "key_contradicts_world", "key.queue"),
    "no such case": (lambda key: key.update(case_id="C-1"), "key_contradicts_world", "key.case_id"),
    "check of no tool": (
        lambda key: key["expected_checks"].append({"action": "lookup_partner"}),
        "unknown_tool",
        "key.expected_checks[3].action",
    ),
    "check of no argument": (
        lambda key: key.update(expected_checks=[{"action": "get_document", "args_match": {"id": "D-1"}}]),
        "unknown_argument",
        "key.expected_checks[0].args_match.id",
    ),
    "check that is forbidden": (
        lambda key: key.update(expected_checks=[{"action": "close_case"}]),
        "impossible_check",
        "key.expected_checks[0].action",
    ),
    "forbids nothing": (lambda key: key.update(forbidden_actions=["sh"]), "unknown_tool", "key.forbidden_actions[0]"),
    "change of no table": (
        lambda key: key.update(allowed_changes=["case.status"]),
        "unknown_table",
        "key.allowed_changes[0]",
    ),
    "change of no column": (
        lambda key: key.update(allowed_changes=["cases.state"]),
        "unknown_column",
        "key.allowed_changes[0]",
    ),
    "satisfied at the start": (
        lambda key: key.update(status="new", queue=None, outstanding=[], links=[]),
        "key_satisfied",
        "key.status",
    ),
    "nothing to do, but not right": (
        lambda key: key.update(do_nothing=True),
        "key_contradicts_world",
        "key.do_nothing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_key_is_found(name: str, tmp_path: Path) -> None:
    change, code, field = MISTAKES[name]
    found = {(mistake.code, mistake.field): mistake for mistake in check(tmp_path, change)}
    assert (code, field) in found
    assert found[code, field].line == 1
    assert found[code, field].fix


def test_the_published_schema_is_the_models() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json.loads(json.dumps(key_schema()))
