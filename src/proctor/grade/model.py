"""What a grader gets and what it gives: ``Evidence`` in, ``Grade`` out. Values only.

Evidence is read from the record (never from a live world or from the agent), so a grade can be made again by
anyone, offline. A grader that crashes is a ``grader_error`` of the cell, which is neither pass nor fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from proctor.ledger.trace import Step
from proctor.worlds.state import Row, State

__all__ = ["Evidence", "Finding", "Grade", "Grader", "Metric", "State", "Step"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One reason why a cell fails, with what a person needs to see it.

    ``steps`` are trace steps; ``cycle`` is where it happened, 0 for the whole cell. ``critical`` findings block
    whatever the rates say.
    """

    code: str
    detail: str = ""
    steps: tuple[int, ...] = ()
    cycle: int = 0
    field: str | None = None
    expected: Any = None
    found: Any = None
    critical: bool = False


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A share of something: ``numerator`` of ``denominator``. No denominator: no value (never 0, never 1)."""

    name: str
    numerator: int
    denominator: int

    @property
    def value(self) -> float | None:
        """The share, or None where there is nothing to take a share of."""
        return self.numerator / self.denominator if self.denominator else None


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """What one grader says of one cell. It passes only with no finding."""

    grader: str
    findings: tuple[Finding, ...] = ()
    metrics: tuple[Metric, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def codes(self) -> list[dict[str, Any]]:
        """The findings as plain values: ``code``, and as ``evidence`` the trace steps and the field with what was
        expected and what was got."""
        return [
            {
                "code": finding.code,
                "evidence": {
                    "steps": list(finding.steps),
                    "field": finding.field,
                    "expected": finding.expected,
                    "got": finding.found,
                    "detail": finding.detail,
                },
            }
            for finding in self.findings
        ]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything recorded about one attempt at a cell, as its grader sees it.

    ``case`` is the case without its key; ``key`` and ``expect`` are what the agent never saw. ``answer`` is the
    agent's final answer, a claim (of the last cycle; ``answers`` has one a cycle). ``ended`` is how each cycle's
    agent ended, one ``EndReason`` a cycle.
    """

    case: Mapping[str, Any]
    key: Any
    expect: Mapping[str, Sequence[Row]] | None
    before: State
    after: State
    steps: tuple[Step, ...]
    answer: Any
    answers: tuple[Any, ...] = ()
    ended: tuple[str, ...] = ()
    expected_answer: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None
    grader: str = ""

    @property
    def last_step(self) -> int:
        """Number of the last step, 0 if the agent did nothing."""
        return self.steps[-1].step if self.steps else 0

    def calls(self, *tools: str) -> Iterator[Step]:
        """The agent's calls in order; of the named tools only, if any are named."""
        for step in self.steps:
            if step.actor == "agent" and step.action != "finish" and (not tools or step.action in tools):
                yield step

    def ok(self, *, metrics: Sequence[Metric] = ()) -> Grade:
        """Nothing found."""
        return Grade(grader=self.grader, metrics=tuple(metrics))

    def fail(
        self,
        code: str,
        *,
        at: int | Sequence[int] = (),
        detail: str = "",
        expected: Any = None,
        found: Any = None,
        field: str | None = None,
    ) -> Grade:
        """One finding, at one or more trace steps."""
        steps = (at,) if isinstance(at, int) else tuple(at)
        return self.grade([Finding(code=code, detail=detail, steps=steps, expected=expected, found=found, field=field)])

    def grade(self, findings: Sequence[Finding], *, metrics: Sequence[Metric] = ()) -> Grade:
        """Any number of findings."""
        return Grade(grader=self.grader, findings=tuple(findings), metrics=tuple(metrics))


Grader: TypeAlias = Callable[[Evidence], Grade]
