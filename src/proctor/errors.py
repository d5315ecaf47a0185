"""The whole error tree, and the place a fault was found.

    ProctorError
    ├── UsageError              wrong command line or API call               exit 64
    ├── InputError              a file or value that people wrote is unusable  exit 2
    │   ├── SuiteError          … in a suite
    │   └── InvalidEvaluation   … in recorded results (also a ValueError)
    ├── EvidenceError           a record is broken, or contradicts itself    exit 2
    ├── IsolationError          the demanded isolation can't be had here     exit 2
    └── InfrastructureError     a process, disk or world failed; may be tried again   exit 2
    ToolError                   what a world's tool tells the agent (an outcome, not a fault)
    ├── Denied
    ├── NotFound
    └── Conflict

An agent that fails is a result, never an exception. Every message says what was expected, what was found,
where, and what to do; the same facts are attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Conflict",
    "Denied",
    "EvidenceError",
    "InfrastructureError",
    "InputError",
    "InvalidEvaluation",
    "IsolationError",
    "NotFound",
    "Place",
    "ProctorError",
    "SuiteError",
    "ToolError",
    "UsageError",
    "shorten",
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file, a line counted from 1, and the path of a field (``cases[2].id``)."""

    file: str | None = None
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = self.file or ""
        if self.line is not None:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        if self.field:
            field = shorten(self.field, 120)
            where = f"{where}: {field}" if where else field
        return where


def shorten(value: object, limit: int = 80) -> str:
    """One printable line of at most ``limit`` characters for a value of unknown origin."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


class ProctorError(Exception):
    """A fault, with the facts a person needs to mend it.

    ``problem`` is a sentence without a full stop; ``code`` is stable and meant for programs.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        place: Place | None = None,
        expected: str | None = None,
        found: object = None,
        fix: str | None = None,
        code: str | None = None,
    ) -> None:
        self.problem = problem
        self.place = place
        self.expected = expected
        self.found = None if found is None else shorten(found)
        self.fix = fix
        self.code = code
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """The whole message on one line."""
        text = f"{self.place}: {self.problem}" if self.place and str(self.place) else self.problem
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.found is not None:
            text += f"; found {self.found}"
        if self.fix is not None:
            text += f"; {self.fix}"
        return text


class UsageError(ProctorError):
    """The caller asked for something that makes no sense; nothing was read or run."""

    exit_code = 64


class InputError(ProctorError):
    """Something that a person or another program wrote can't be used as it is."""


class SuiteError(InputError):
    """A mistake in a suite: its author must mend it."""


class InvalidEvaluation(InputError, ValueError):
    """Recorded data can't be scored: no verdict, no report."""


class EvidenceError(ProctorError):
    """A record was changed, is incomplete where it must not be, or contradicts itself."""


class IsolationError(ProctorError):
    """The isolation tier that a suite demands does not hold on this machine."""


class InfrastructureError(ProctorError):
    """A process, a disk or a world failed through no fault of the agent's."""


class ToolError(Exception):
    """What a tool of a world tells the agent instead of a result; the call is rolled back and recorded."""

    code = "tool_error"

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


class Denied(ToolError):
    """The contract, the schema or the tool itself forbids this call."""

    code = "denied"


class NotFound(ToolError):
    """A row or object that the call names does not exist."""

    code = "not_found"


class Conflict(ToolError):
    """The call would break a constraint of the world's tables."""

    code = "conflict"
