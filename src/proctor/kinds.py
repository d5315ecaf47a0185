"""Small named types and closed sets that several rooms share. No behaviour beyond what their names say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum
from typing import Final, TypeAlias

__all__ = ["INTEGER_LIMIT", "JsonValue", "Outcome", "Phase", "Role", "Verdict"]

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

INTEGER_LIMIT: Final = 2**53 - 1
"""Largest integer that every JSON reader keeps exact."""


class Outcome(StrEnum):
    """How a cell ended. Exactly one holds; only ``PASSED`` counts for the candidate."""

    PASSED = "passed"
    FAILED = "failed"
    AGENT_ERROR = "agent_error"
    LIMIT = "limit"
    MISSING = "missing"
    INFRA_ERROR = "infra_error"
    GRADER_ERROR = "grader_error"
    WITHHELD = "withheld"

    @property
    def is_unresolved(self) -> bool:
        """Not the agent's failure: bounded both ways by the gate, never a quiet zero."""
        return self in (Outcome.INFRA_ERROR, Outcome.GRADER_ERROR)


class Verdict(Enum):
    """The answer to "may this change ship?", each with its exit code."""

    PASS = 0
    BLOCK = 1
    INVALID = 2
    UNDECIDED = 3

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends in this verdict."""
        return self.value


class Phase(StrEnum):
    """Whether a scheduled fault strikes before or after the call took effect."""

    BEFORE = "before"
    AFTER = "after"


class Role(StrEnum):
    """What a shipped agent is for."""

    REFERENCE = "reference"
    HONEST = "honest"
    CONTROL = "control"
    DEFECTIVE = "defective"
