"""A suite as values: what ``suite.toml`` and the cases may say. Frozen, strict, unknown keys refused.

Left out: files (``suite.load``), what a gate's rules mean (``gate``), whether it all fits together (``suite.check``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from proctor.kinds import Phase, Role
from proctor.sandbox.tiers import Tier
from proctor.suite.layout import Layout
from proctor.suite.records import RecordsSpec

__all__ = [
    "After",
    "AgentEntry",
    "Budget",
    "Case",
    "Contract",
    "CycleSpec",
    "Derived",
    "Event",
    "Fault",
    "SuiteSpec",
    "User",
]

Count = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e12)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Identifier = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,127}$",
        description="a letter (A-Z, a-z) or digit, then letters, digits, '.', '_' and '-'; at most 128",
    ),
]
Row = dict[str, Any]


class User(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The person the agent talks to: its turns come from the case, in order."""

    kind: Literal["scripted"] = "scripted"
    max_turns: Count = 20


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent may do. ``forbid``: tools offered only to be refused. ``max_calls``: ceilings within a cell;
    a call above one is refused."""

    forbid: tuple[Name, ...] = ()
    max_calls: dict[str, Count] = {}


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ceilings of a cell over all its attempts; equal to the limit passes. ``seconds`` of wall time also ends it."""

    tokens: Count | None = None
    seconds: Positive | None = None
    calls: Count | None = None
    usd: Positive | None = None


class CycleSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``ends_with``: the tool whose successful call ends a cycle; one that ends without it is ``agent_error``.
    ``seconds``: wall time of one cycle."""

    ends_with: Name | None = None
    seconds: Positive = 60.0


class Derived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure made of others: the ``product`` of metrics (unknown where one of them is)."""

    product: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)]


class SuiteSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``suite.toml``. ``gate`` stays raw here; the gate's own room reads it. ``demo`` names shipped agents, the first
    of which should pass. A suite has a world to run in (``cases``, ``world``, ``graders``), ``records`` to score, or
    both; the three are empty where it has only records."""

    name: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[a-z][a-z0-9_-]{0,63}$",
            description="a small letter, then small letters, digits, '-' and '_'; at most 64",
        ),
    ]
    version: Name
    cases: Name = ""
    world: Name = ""
    graders: tuple[Name, ...] = ()
    records: RecordsSpec | None = None
    title: str = ""
    task: str = ""
    policy: Name | None = None
    runs: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    user: User | None = None
    answer: dict[str, Any] | None = None
    contract: Contract = Contract()
    budget: Budget = Budget()
    cycle: CycleSpec = CycleSpec()
    isolation: Tier = "T1"
    layout: Layout | None = None
    metrics: dict[str, Derived] = {}
    agents: Name | None = None
    corpus: Name | None = None
    demo: tuple[Name, ...] = ()
    synthetic_only: bool = False
    gate: dict[str, Any] | None = None

    @property
    def has_world(self) -> bool:
        """Whether agents can be run on it."""
        return bool(self.cases and self.world and self.graders)


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fault of one call: the ``nth`` permitted call of a tool in a cycle, both from 1.

    ``temporary``: the caller is told to try again; the call took effect if ``phase`` is ``after``. ``crash``: the
    harness kills the agent there.
    """

    cycle: Count
    tool: Name
    nth: Count
    phase: Phase
    kind: Literal["temporary", "crash"] = "temporary"


class After(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Right after the ``nth`` permitted call of a tool."""

    tool: Name
    nth: Count


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of the world that the harness makes: at the start of a cycle, or ``after`` a call in it."""

    cycle: Count
    do: Name
    args: dict[str, Any] = {}
    after: After | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case. ``key``, ``expect`` and ``answer`` are the answer key: neither agent nor world ever sees them."""

    id: Identifier
    slice: Name = "all"
    group: Name | None = None
    task: str | None = None
    input: Any = None
    user: tuple[str, ...] = ()
    setup: dict[str, tuple[Row, ...]] = {}
    cycles: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    events: tuple[Event, ...] = ()
    faults: tuple[Fault, ...] = ()
    expect: dict[str, tuple[Row, ...]] | None = None
    answer: dict[str, Any] | None = None
    key: Any = None

    def public(self) -> dict[str, Any]:
        """What a grader sees as ``evidence.case``: everything but the answer key."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("key", "expect", "answer"):
            del fields[name]
        return fields


class AgentEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent that ships with a suite. ``command`` is an argument list run in the agents' folder, in which
    ``{python}`` stands for the interpreter; ``caught_by`` names codes that must tell its fault."""

    name: Identifier
    role: Role
    what: Name
    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    caught_by: tuple[str, ...] = ()
