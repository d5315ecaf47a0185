"""The registry is closed: every code in it is produced by a test, and explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proctor.grade.registry import REASONS, REGISTRY_VERSION, is_known

TESTS = Path(__file__).parent.parent
CODE = re.compile(r"[a-z][a-z0-9_]{1,63}")
ASSERTED = re.compile(r"assert|expected|caught_by|\[|\(")


def _mentioned() -> dict[str, list[str]]:
    """Code → the test files in which an assertion or a table of expectations names it."""
    where: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        if path == Path(__file__):
            continue
        for line in path.read_text(encoding="utf-8").split("\n"):
            if ASSERTED.search(line):
                for code in re.findall(r"""["']([a-z][a-z0-9_]+)["']""", line):
                    where.setdefault(code, []).append(path.name)
    return where


MENTIONED = _mentioned()


@pytest.mark.parametrize("code", REASONS)
def test_every_code_is_produced_by_a_test(code: str) -> None:
    assert MENTIONED.get(code), f"no test expects {code}: a code that nothing produces doesn't exist"


@pytest.mark.parametrize("code", REASONS)
def test_every_code_is_explained(code: str) -> None:
    reason = REASONS[code]
    assert CODE.fullmatch(code)
    assert reason.code == code
    assert len(reason.meaning.split()) > 3
    assert reason.example


def test_the_registry_has_a_version_and_knows_no_other_code() -> None:
    assert REGISTRY_VERSION == "2"
    assert is_known("wrong_queue")
    assert not is_known("wrong_que")
