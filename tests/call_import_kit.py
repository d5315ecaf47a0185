"""For tests of the suite call-import: its modules, its cases, and attempts at them without a ledger on disk."""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from proctor.agents.resolve import AgentCommand, resolve_agent
from proctor.clock import SystemClock
from proctor.errors import Place
from proctor.gateway.recorder import Recorder
from proctor.grade.model import Evidence, Grade
from proctor.runner.attempt import run_attempt
from proctor.suite.load import Suite, load_suite, parse_case
from proctor.suite.model import Case
from proctor.suite.plan import Cell
from proctor.worlds.session import Session
from proctor.worlds.state import open_bytes, read_state

NAMES = (
    "account", "arrivals", "boundaries", "codes", "conduct", "corpus", "dice", "flaws", "grader", "grammar",
    "happenings", "measures", "outcome", "pairs", "published", "recordings", "schedule", "texts", "truth", "twin",
    "world",
)  # fmt: skip


@functools.cache
def suite() -> Suite:
    return load_suite("call-import")


@functools.cache
def modules() -> Mapping[str, ModuleType]:
    """The suite's modules by plain name; other tests never see them in ``sys.modules``."""
    hidden = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    sys.path.insert(0, str(suite().folder))
    try:
        return {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(suite().folder))
        for name in NAMES:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


@functools.cache
def raw_case(seed: int, files: int = 300) -> dict[str, Any]:
    corpus = modules()["corpus"]
    made: dict[str, Any] = corpus.case_of(corpus.build(seed, files=files))
    return made


@functools.cache
def case(seed: int, files: int = 300) -> Case:
    return parse_case(raw_case(seed, files), Place("corpus.py"))


class _Log:
    last_ns = 0

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def append(self, entry: Any) -> int:
        return next(self._numbers)

    def put(self, data: bytes) -> str:
        return str(next(self._numbers))

    def commit(self) -> None:
        pass


def command(agent: str) -> AgentCommand:
    loaded = suite()
    return resolve_agent(
        f"builtin:{agent}", shipped=loaded.agents, shipped_folder=loaded.agents_folder, folder=loaded.agents_folder
    )


def attempt(agent: str, seed: int = 1, files: int = 300) -> Evidence:
    """Run a shipped agent on the corpus of a seed; the evidence, as a grader gets it."""
    chosen = case(seed, files)
    cell = Cell(chosen.id, 1)
    done = run_attempt(
        suite(),
        chosen,
        cell,
        retry=0,
        world=Session(modules()["world"].desk),
        recorder=Recorder(_Log(), _Log()),
        command=command(agent),
        clock=SystemClock(),
        world_seed="1",
    )
    assert done.outcome is None, (done.outcome, done.detail)
    assert done.before is not None
    assert done.after is not None
    return Evidence(
        case=chosen.public(),
        key=chosen.key,
        expect=chosen.expect,
        before=read_state(open_bytes(done.before)),
        after=read_state(open_bytes(done.after)),
        steps=done.steps,
        answer=None,
        answers=done.answers,
        ended=done.ended,
        grader="robust_import",
    )


def grade(evidence: Evidence) -> Grade:
    graded: Grade = modules()["grader"].robust_import(evidence)
    return graded


def metrics(graded: Grade) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in graded.metrics}


def codes(graded: Grade) -> set[str]:
    return {finding.code for finding in graded.findings}
