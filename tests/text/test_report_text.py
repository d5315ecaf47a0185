"""The renderings of a report as people see them, compared with the files under ``tests/golden/report``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_GOLDEN = Path(__file__).parents[1] / "golden" / "report"


def _renderings() -> dict[str, bytes]:
    spec = importlib.util.spec_from_file_location("report_golden", _GOLDEN / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, bytes] = module.renderings()
    return made


_NAMES = ["scorecard.txt", "incident.txt", "show.txt", "trace.txt", "report.md", "cells.csv", "junit.xml"]


@pytest.mark.parametrize("name", _NAMES)
def test_rendering_is_the_golden_one(name: str) -> None:
    assert _renderings()[name].decode() == (_GOLDEN / name).read_bytes().decode()


def test_every_golden_file_is_compared() -> None:
    assert {path.name for path in _GOLDEN.iterdir() if path.is_file()} == {*_NAMES, "generate.py"}
    assert set(_renderings()) == set(_NAMES)
