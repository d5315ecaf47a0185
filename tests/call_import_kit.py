"""For tests of the suite call-import: its modules, its cases, and attempts at them without a ledger on disk."""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import msgspec

from proctor.errors import Place
from proctor.gateway.gateway import Gateway, Shown
from proctor.gateway.recorder import Recorder
from proctor.grade.model import Evidence, Finding, Grade
from proctor.ledger.trace import steps_of
from proctor.suite.load import Suite, load_suite, parse_case
from proctor.suite.model import Case
from proctor.worlds.schedule import Schedule
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


@functools.cache
def importer() -> ModuleType:
    """The shipped importer as a module, to be driven in this process."""
    folder = str(suite().agents_folder)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("importer")
    finally:
        sys.path.remove(folder)


class Crash(Exception):
    """The harness ends the agent here."""


class Wire:
    """What an agent speaks into, without a process: the same calls, the same errors."""

    def __init__(self, gateway: Gateway, cycle: int) -> None:
        self._gateway = gateway
        self.cycle = cycle

    def call(self, tool: str, **args: Any) -> Any:
        shown: Shown = self._gateway.call(tool, msgspec.json.encode(args))
        if shown.crash:
            raise Crash
        if shown.error is not None:
            data = {"code": shown.error, "retryable": shown.error == "temporary"}
            raise importer().Failure({"message": shown.message, "data": data})
        return msgspec.json.decode(shown.result)

    def read(self, tool: str, **args: Any) -> Any:
        return importer().Wire.read(self, tool, **args)


def play(agent: Callable[[Wire], None], seed: int = 1, files: int = 300, *, case_changes: Any = None) -> Evidence:
    """Let a function work through every cycle of a corpus, in this process; the evidence, as a grader gets it."""
    chosen = msgspec.structs.replace(case(seed, files), **(case_changes or {}))
    session, recorder = Session(modules()["world"].desk), Recorder(_Log(), _Log())
    session.reset(chosen.setup, "1")
    before = session.dump()
    schedule = Schedule(chosen.faults, chosen.events)
    gateway = Gateway(session, recorder, attempt="a", contract=suite().spec.contract, schedule=schedule)
    ended = []
    for cycle in range(1, chosen.cycles + 1):
        gateway.begin_cycle(cycle)
        try:
            agent(Wire(gateway, cycle))
            gateway.finish(b"null")
            ended.append("finished")
        except Crash:
            ended.append("injected_crash")
    entries, texts = recorder.take()
    return Evidence(
        case=chosen.public(),
        key=chosen.key,
        expect=chosen.expect,
        before=read_state(open_bytes(before)),
        after=read_state(open_bytes(session.dump())),
        steps=tuple(step for _, step in steps_of(entries, texts.__getitem__)),
        answer=None,
        ended=tuple(ended),
        grader="robust_import",
    )


@functools.cache
def careful(seed: int = 1, files: int = 300) -> Evidence:
    """The evidence of the careful importer."""
    return play(lambda wire: importer().Importer(wire).run(), seed, files)


def grade(evidence: Evidence) -> Grade:
    graded: Grade = modules()["grader"].robust_import(evidence)
    return graded


def metrics(graded: Grade) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in graded.metrics}


def codes(graded: Grade) -> set[str]:
    return {finding.code for finding in graded.findings}


def found(graded: Grade, code: str) -> list[Finding]:
    return [finding for finding in graded.findings if finding.code == code]
