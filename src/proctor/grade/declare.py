"""How an author declares a grader: a function of the evidence, and the reason codes that it may give.

A suite's codes are namespaced with its name when they are recorded (``refund.false_promise``), so the built-in
registry stays closed. A grader that gives a code it did not declare is broken (``grader_error``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from proctor.errors import SuiteError
from proctor.grade.model import Evidence, Grade

__all__ = ["DeclaredGrader", "grader"]

_CODE = re.compile(r"[a-z][a-z0-9_]{1,63}")


@dataclass(frozen=True)
class DeclaredGrader:
    """A grader function with its codes: code → what it means. ``critical`` ones block whatever the rates say."""

    function: Callable[[Evidence], Grade]
    name: str
    codes: Mapping[str, str]
    critical: frozenset[str]

    def __call__(self, evidence: Evidence) -> Grade:
        """Grade one cell's evidence."""
        return self.function(evidence)


def grader(
    *, codes: Mapping[str, str], critical: Iterable[str] = ()
) -> Callable[[Callable[[Evidence], Grade]], DeclaredGrader]:
    """Declare a grader. Raises ``SuiteError`` for a code that isn't snake_case or has no meaning written down."""
    for code, meaning in codes.items():
        if not _CODE.fullmatch(code) or not meaning.strip():
            raise SuiteError(
                f"reason code {code!r} can't be registered",
                expected="a snake_case code with a sentence that says what it means",
                code="grader_code",
            )
    unknown = sorted(set(critical) - set(codes))
    if unknown:
        raise SuiteError(
            f"critical names codes that are not declared: {', '.join(unknown)}",
            expected=", ".join(codes),
            code="grader_code",
        )

    def declare(function: Callable[[Evidence], Grade]) -> DeclaredGrader:
        return DeclaredGrader(
            function=function, name=function.__name__, codes=dict(codes), critical=frozenset(critical)
        )

    return declare
