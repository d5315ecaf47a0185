"""Custom graders of recorded results, in a process of their own: ``plugin:NAME`` and ``file.py:function``.

``plugin:NAME`` is an entry point of the group ``proctor.graders`` of any installed package; both are functions declared
with ``@grader``, as for live runs: a result is turned into the same ``Evidence``, with an empty world. A grader that
raises, hangs or dies costs its cell (``grader_error``), never the evaluation, and is never a pass.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.errors import InfrastructureError, SuiteError
from proctor.grade.declare import DeclaredGrader
from proctor.grade.model import Evidence, Grade, State
from proctor.grade.records import CustomLabel
from proctor.ledger.trace import Step
from proctor.sandbox.child import Child, serve
from proctor.suite.code import load_attribute

__all__ = ["ENTRY_POINTS", "RecordGraderProcess", "evidence_of", "load_grader", "main"]

ENTRY_POINTS = "proctor.graders"
_PASSES, _FAILS, _BROKEN = 0, 1, 2


class RecordGraderProcess:
    """The supervisor's end; use it as a context. Calling it judges pairs of case and result: one mask a pair."""

    def __init__(
        self, folder: Path, custom: Sequence[CustomLabel], grader_error: int, *, timeout_seconds: float = 60.0
    ) -> None:
        self._folder, self._custom, self._error = folder, custom, grader_error
        self._timeout = timeout_seconds
        self._child: Child | None = None
        self._ask("check", reply=int)

    def __enter__(self) -> RecordGraderProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[int]:
        """Judge pairs together; if that breaks the process, one by one, so that only the culprit is lost."""
        try:
            answers: list[list[int]] = self._ask("grade", pairs, reply=list[list[int]])
        except InfrastructureError:
            return [self._error] if len(pairs) == 1 else [self([pair])[0] for pair in pairs]
        return [self._mask(answer) for answer in answers]

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _mask(self, answer: Sequence[int]) -> int:
        mask = 0
        for label, said in zip(self._custom, answer, strict=True):
            mask |= {_PASSES: 0, _FAILS: label.bit}.get(said, self._error)
        return mask

    def _ask(self, method: str, *arguments: Any, reply: Any) -> Any:
        if self._child is None:
            references = [label.reference for label in self._custom]
            self._child = Child(
                "proctor.grade.record_plugins",
                [str(self._folder), *references],
                what="the process of the custom graders",
                timeout_seconds=self._timeout,
            )
        try:
            return self._child.ask(method, *arguments, reply=reply)
        except InfrastructureError:
            self.close()
            raise


def load_grader(folder: Path, reference: str) -> Callable[[Evidence], Grade]:
    """The declared grader that a reference names. Raises ``SuiteError``. Runs the author's code."""
    if reference.startswith("plugin:"):
        name = reference.removeprefix("plugin:")
        found = list(importlib.metadata.entry_points(group=ENTRY_POINTS, name=name))
        if not found:
            there = sorted(entry.name for entry in importlib.metadata.entry_points(group=ENTRY_POINTS))
            raise SuiteError(
                f"no installed package has the grader {name!r}",
                expected=f"an entry point of the group {ENTRY_POINTS}: {', '.join(there) or 'none is installed'}",
                found=name,
                fix="install the package that has it, into the same environment as Proctor",
                code="grader",
            )
        loaded = found[0].load()
    else:
        loaded = load_attribute(folder, reference)
    if not isinstance(loaded, DeclaredGrader):
        raise SuiteError(
            f"{reference} is no grader", expected="a function declared with @grader(codes={…})", code="grader"
        )
    return loaded


def evidence_of(case: Mapping[str, Any], result: Mapping[str, Any], grader: str) -> Evidence:
    """A recorded result as a grader sees it: actions are steps, ``answer`` is what the agent said."""
    actions = result.get("actions", ())
    steps = tuple(
        Step(
            step=number,
            event=number,
            cycle=1,
            actor="agent",
            action=action["tool"],
            args={"target": action["target"]},
            result=None,
        )
        for number, action in enumerate(actions, 1)
    )
    nothing = State(tables={})
    return Evidence(
        case={name: value for name, value in case.items() if name != "expected"},
        key=case["expected"],
        expect=None,
        before=nothing,
        after=nothing,
        steps=steps,
        answer=result["answer"],
        answers=(result["answer"],),
        ended=("finished" if result["status"] == "ok" else "crashed",),
        expected_answer=case["expected"],
        usage=result.get("usage"),
        grader=grader,
    )


def _judge(
    graders: Sequence[tuple[str, Callable[[Evidence], Grade]]], case: Mapping[str, Any], result: Mapping[str, Any]
) -> list[int]:
    said = []
    for name, function in graders:
        try:
            grade: Any = function(evidence_of(case, result, name))
            said.append(_BROKEN if not isinstance(grade, Grade) else _PASSES if grade.passed else _FAILS)
        except Exception:  # noqa: BLE001 - an author's grader may raise anything; its cell is then not graded
            said.append(_BROKEN)
    return said


def main(arguments: list[str]) -> None:
    """Serve the graders that the references name, of the suite in ``FOLDER``."""
    folder, *references = arguments

    def load() -> dict[str, Callable[..., Any]]:
        graders = [(reference, load_grader(Path(folder), reference)) for reference in references]
        return {
            "check": lambda: len(graders),
            "grade": lambda pairs: [_judge(graders, case, result) for case, result in pairs],
        }

    serve(load)
