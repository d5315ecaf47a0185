"""Proctor evaluates AI agents that act in stateful worlds, and gives verdicts that stand up.

What is listed in ``__all__`` is the public API; everything else may change between releases. Names are loaded
when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from proctor._version import __version__

if TYPE_CHECKING:
    from proctor.comparison.api import compare
    from proctor.errors import Conflict, Denied, InvalidEvaluation, NotFound, ProctorError
    from proctor.grade.declare import grader
    from proctor.grade.model import Evidence, Finding, Grade, Metric
    from proctor.runner.records import evaluate_records, grade_record, load_jsonl
    from proctor.worlds.api import world

_HOME = {
    "Conflict": "proctor.errors",
    "Denied": "proctor.errors",
    "Evidence": "proctor.grade.model",
    "Finding": "proctor.grade.model",
    "Grade": "proctor.grade.model",
    "InvalidEvaluation": "proctor.errors",
    "Metric": "proctor.grade.model",
    "NotFound": "proctor.errors",
    "ProctorError": "proctor.errors",
    "compare": "proctor.comparison.api",
    "evaluate_records": "proctor.runner.records",
    "grade_record": "proctor.runner.records",
    "grader": "proctor.grade.declare",
    "load_jsonl": "proctor.runner.records",
    "world": "proctor.worlds.api",
}

__all__ = [
    "Conflict",
    "Denied",
    "Evidence",
    "Finding",
    "Grade",
    "InvalidEvaluation",
    "Metric",
    "NotFound",
    "ProctorError",
    "__version__",
    "compare",
    "evaluate_records",
    "grade_record",
    "grader",
    "load_jsonl",
    "world",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
