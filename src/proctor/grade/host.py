"""Graders in a process of their own: evidence comes in, grades go out. One process serves many cells.

The suite's code may hang, crash or print; all of that is a ``grader_error`` of the cell at hand, never a pass and
never the end of the run. ``GraderProcess`` is the supervisor's end; ``main`` is the child's.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import SuiteError
from proctor.grade.declare import DeclaredGrader
from proctor.grade.key_graders import KEY_GRADERS
from proctor.grade.model import Evidence, Finding, Grade
from proctor.grade.registry import REASONS
from proctor.grade.sealed import SealedKeys
from proctor.grade.standard import STANDARD_GRADERS, grade_budget, grade_contract
from proctor.ledger.trace import Step
from proctor.sandbox.child import Child, serve
from proctor.suite.code import load_attribute, load_file
from proctor.suite.load import load_suite
from proctor.worlds.state import open_bytes, read_state

__all__ = ["CodeEntry", "EvidenceMessage", "GraderProcess", "main"]


_to_json = msgspec.json.Encoder().encode
"""Evidence and grades travel as JSON: an agent's integers may have more digits than other encodings hold, and what an
agent says must never decide whether it can be graded."""


class CodeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A code that the suite's graders declare, namespaced."""

    code: str
    meaning: str
    critical: bool


class EvidenceMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence on its way to the grader process; ``before`` and ``after`` are serialised databases."""

    case: dict[str, Any]
    key: Any
    expect: dict[str, Any] | None
    expected_answer: dict[str, Any] | None
    before: bytes
    after: bytes
    steps: Sequence[Step]
    answer: Any
    answers: Sequence[Any]
    ended: Sequence[str]
    usage: Mapping[str, Any]

    def evidence(self, grader: str) -> Evidence:
        """As a grader sees it."""
        return Evidence(
            case=self.case,
            key=self.key,
            expect=self.expect,
            expected_answer=self.expected_answer,
            before=read_state(open_bytes(self.before)),
            after=read_state(open_bytes(self.after)),
            steps=tuple(self.steps),
            answer=self.answer,
            answers=tuple(self.answers),
            ended=tuple(self.ended),
            usage=self.usage,
            grader=grader,
        )


_message_from_json = msgspec.json.Decoder(EvidenceMessage).decode
_grades_from_json = msgspec.json.Decoder(tuple[Grade, ...]).decode


class GraderProcess:
    """The supervisor's end. Restarts its child if that dies, so that one bad grade costs one cell."""

    def __init__(self, folder: Path, *, timeout_seconds: float = 60.0) -> None:
        self._folder = folder
        self._timeout = timeout_seconds
        self._child: Child | None = self._start()

    @cached_property
    def codes(self) -> tuple[CodeEntry, ...]:
        """The codes that the suite's graders declare. Raises ``SuiteError`` where the graders can't be loaded."""
        codes: tuple[CodeEntry, ...] = self._ask("codes", reply=tuple[CodeEntry, ...])
        return codes

    def grade(self, message: EvidenceMessage) -> tuple[Grade, ...]:
        """One grade a grader. Raises ``InfrastructureError`` if the process hangs or dies."""
        states = (message.before, message.after)
        told = _to_json(msgspec.structs.replace(message, before=b"", after=b""))
        return _grades_from_json(self._ask("grade", told, *states, reply=bytes))

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _start(self) -> Child:
        return Child(
            "proctor.grade.host", [str(self._folder)], what="the grader process", timeout_seconds=self._timeout
        )

    def _ask(self, method: str, *arguments: Any, reply: Any) -> Any:
        if self._child is None:
            self._child = self._start()
        try:
            return self._child.ask(method, *arguments, reply=reply)
        except SuiteError:
            raise
        except BaseException:
            self.close()
            raise


class _Graders:
    """The suite's graders, loaded once."""

    def __init__(self, folder: Path) -> None:
        suite = load_suite(folder)
        self._folder, self._spec, place = folder, suite.spec, suite.place
        self._sealed = SealedKeys(folder)
        self._usage_required = _requires_usage(suite.gate_values)
        self._graders: list[tuple[str, Callable[[Evidence], Grade], frozenset[str] | None]] = []
        self._critical: set[str] = set()
        self._codes: list[CodeEntry] = []
        for number, name in enumerate(self._spec.graders):
            try:
                self._add(folder, name)
            except SuiteError as error:
                if error.place is None:
                    error.place = place(f"graders[{number}]")
                raise

    def codes(self) -> list[CodeEntry]:
        return self._codes

    def grade(self, told: bytes, before: bytes, after: bytes) -> bytes:
        """Grades as JSON. The built-in graders share one reading of the evidence, which they leave as it is; each of
        the suite's own gets another, so that none can change what the next one sees."""

        def read() -> Evidence:
            message = msgspec.structs.replace(_message_from_json(told), before=before, after=after)
            return msgspec.structs.replace(message, key=self._sealed.open(message.key)).evidence("")

        shared = read()
        grades = []
        for name, function, declared in self._graders:
            try:
                evidence = msgspec.structs.replace(shared if declared is None else read(), grader=name)
                grade = function(evidence)
                checked = self._checked(name, grade, declared)
                _to_json(checked)
                grades.append(checked)
            except Exception as error:  # noqa: BLE001 - a suite's grader may raise anything
                grades.append(_broken(name, f"{type(error).__name__}: {error}{self._where(error)}"))
        return _to_json(grades)

    def _where(self, error: Exception) -> str:
        """The line of the suite's own code that an error went through last."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).parent == self._folder]
        return f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""

    def _add(self, folder: Path, name: str) -> None:
        if name == "contract":
            self._graders.append((name, lambda e: grade_contract(e, self._spec.contract), None))
        elif name == "budget":
            self._graders.append(
                (name, lambda e: grade_budget(e, self._spec.budget, usage_required=self._usage_required), None)
            )
        elif name in KEY_GRADERS:
            self._graders.append((name, lambda e: KEY_GRADERS[name](e, self._spec.layout), None))
        elif name in STANDARD_GRADERS:
            self._graders.append((name, STANDARD_GRADERS[name], None))
        elif ".py:" in name:
            load_file(folder, name.split(":", 1)[0])
            declared = load_attribute(folder, name)
            if not isinstance(declared, DeclaredGrader):
                raise SuiteError(
                    f"{name} is no grader", expected="a function declared with @grader(codes={…})", code="grader"
                )
            self._graders.append((declared.name, declared, frozenset(declared.codes)))
            self._critical |= declared.critical
            self._codes.extend(
                CodeEntry(code=f"{self._spec.name}.{code}", meaning=meaning, critical=code in declared.critical)
                for code, meaning in declared.codes.items()
            )
        else:
            raise SuiteError(
                f"there is no grader {name!r}",
                expected=f"{', '.join(sorted({*STANDARD_GRADERS, *KEY_GRADERS}))}, or file.py:function",
                found=name,
                code="grader",
            )

    def _grade_budget(self, evidence: Evidence) -> Grade:
        return grade_budget(evidence, self._spec.budget, usage_required=self._usage_required)

    def _checked(self, name: str, grade: Any, declared: frozenset[str] | None) -> Grade:
        if not isinstance(grade, Grade):
            return _broken(name, f"returned {type(grade).__name__}, expected a Grade")
        findings = []
        for finding in grade.findings:
            if declared is None:
                findings.append(finding)
            elif finding.code in declared:
                critical = finding.critical or finding.code in self._critical
                findings.append(
                    msgspec.structs.replace(finding, code=f"{self._spec.name}.{finding.code}", critical=critical)
                )
            elif finding.code in REASONS:
                findings.append(finding)
            else:
                return _broken(name, f"gave the code {finding.code!r}, which it didn't declare", "unregistered_code")
        return msgspec.structs.replace(grade, grader=name, findings=tuple(findings))


def _requires_usage(gate: Mapping[str, Any]) -> bool:
    """Whether the suite's gate asks for known usage, so that a budget nobody can judge is a failure."""
    usage = gate.get("usage")
    return (usage.get("gate") if isinstance(usage, Mapping) else usage) == "required"


def _broken(name: str, detail: str, code: str = "grader_error") -> Grade:
    return Grade(grader=name, findings=(Finding(code=code, detail=f"{name}: {detail}"[:500]),))


def main(arguments: list[str]) -> None:
    """Serve the graders of the suite in ``FOLDER``."""
    (folder,) = arguments

    def load() -> Mapping[str, Callable[..., Any]]:
        graders = _Graders(Path(folder))
        return {"codes": graders.codes, "grade": graders.grade}

    serve(load)
