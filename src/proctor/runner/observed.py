"""What a run's agents did and used, against what they were allowed: ``isolation.observed.json``, made from the record.

The counterpart to ``isolation.json``, which says what was allowed and what the self-test found before anything ran. A
call that the gateway refused is no breach: it never reached the world. A breach is a call carried out although the
contract forbids it or its ceiling was reached, use above a ceiling, or a process that could not be ended; any of them
invalidates the run. Left out: looking into the sandbox (``sandbox.selftest``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from proctor.ledger.entries import AgentEnd, CallEntry, Decision
from proctor.runner.record import AttemptRecord, RunRecord
from proctor.sandbox.tiers import Isolation
from proctor.suite.model import Contract
from proctor.suite.plan import Cell

__all__ = ["OBSERVED_FILE", "Ceiling", "ObservedUse", "observe"]

OBSERVED_FILE = "isolation.observed.json"
GRACE_MS = 15_000
"""What ending a cycle may take beyond its time: the agent's own end, and a machine that is busy."""
PROGRAM_BYTES = 512 * 1024**2
"""Mapped program files, which count as memory in use beside what a ceiling on data bounds."""
_PERMITTED = frozenset({Decision.ALLOWED, Decision.BAD_ARGUMENTS})
_UNKNOWN = "(unknown tools)"


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """A ceiling and the highest use of it; None: there is no ceiling, or nobody measured."""

    allowed: int | None
    used: int | None

    @property
    def is_over(self) -> bool:
        """Whether it is known to have been exceeded."""
        return self.allowed is not None and self.used is not None and self.used > self.allowed


class ObservedUse(msgspec.Struct, frozen=True, kw_only=True):
    """What was observed over all attempts.

    ``tools`` is tool → decision → calls. ``ceilings`` are per cycle and agent: ``wall_ms``, ``max_rss_bytes`` (of its
    largest process), ``cpu_ms`` (of all its processes). ``survivors`` are processes that had left their agent's
    session and were ended; ``alive`` could not be ended. ``outside`` names every breach; empty: none.
    """

    v: int = 1
    tier: str
    attempts: int
    cycles: int
    tools: dict[str, dict[str, int]]
    ceilings: dict[str, Ceiling]
    survivors: int
    alive: int
    outside: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was observed that was not allowed."""
        return not self.outside


def observe(record: RunRecord, contract: Contract, cycle_seconds: float) -> ObservedUse:
    """From a run's record. Raises ``EvidenceError`` where the texts that it needs are withheld."""
    attempts = [(cell, one) for cell in record.plan.cells() for one in record.attempts.get(cell, ())]
    tools: dict[str, Counter[str]] = {}
    outside: list[str] = []
    for cell, attempt in attempts:
        carried_out = _count(record, attempt, tools)
        outside += _beyond_contract(cell, carried_out, contract)
    ends = [end for _, attempt in attempts for end in attempt.all(AgentEnd)]
    ceilings = _ceilings(record.isolation, ends, cycle_seconds)
    outside += [f"{name}: {one.used} of {one.allowed}" for name, one in ceilings.items() if one.is_over]
    alive = sum(end.use.alive for end in ends if end.use is not None)
    outside += [f"{alive} processes could not be ended"] * bool(alive)
    return ObservedUse(
        tier=record.isolation.tier,
        attempts=len(attempts),
        cycles=len(ends),
        tools={name: dict(sorted(counts.items())) for name, counts in sorted(tools.items())},
        ceilings=ceilings,
        survivors=sum(end.use.survivors for end in ends if end.use is not None),
        alive=alive,
        outside=tuple(outside),
    )


def _count(record: RunRecord, attempt: AttemptRecord, tools: dict[str, Counter[str]]) -> Counter[str]:
    """Add an attempt's calls to ``tools``; those that were carried out, by tool. Names that the suite doesn't know are
    the agent's own texts, and only counted."""
    carried_out: Counter[str] = Counter()
    for entry in attempt.all(CallEntry):
        known = entry.decision is not Decision.UNKNOWN_TOOL
        name = record.text(entry.toolRef).decode() if known else _UNKNOWN
        tools.setdefault(name, Counter())[str(entry.decision)] += 1
        if entry.decision in _PERMITTED:
            carried_out[name] += 1
    return carried_out


def _beyond_contract(cell: Cell, carried_out: Counter[str], contract: Contract) -> list[str]:
    found = [f"cell {cell}: forbidden tool {name} was carried out" for name in contract.forbid if carried_out[name]]
    for name, ceiling in contract.max_calls.items():
        if carried_out[name] > ceiling:
            found.append(f"cell {cell}: {carried_out[name]} calls of {name} were carried out, {ceiling} are allowed")
    return found


def _ceilings(isolation: Isolation, ends: Iterable[AgentEnd], cycle_seconds: float) -> dict[str, Ceiling]:
    uses = [end.use for end in ends if end.use is not None]
    limits = isolation.limits
    data = limits.get("data_bytes")
    memory = limits.get("memory_bytes") if data is None else data + limits.get("tmp_bytes", 0) + PROGRAM_BYTES
    cpu, rss = [use.cpuMs for use in uses], [use.maxRssBytes for use in uses]
    return {
        "cpu_ms": Ceiling(allowed=None, used=max((ms for ms in cpu if ms is not None), default=None)),
        "max_rss_bytes": Ceiling(allowed=memory, used=max((b for b in rss if b is not None), default=None)),
        "wall_ms": Ceiling(
            allowed=int(cycle_seconds * 1000) + GRACE_MS, used=max((use.wallMs for use in uses), default=None)
        ),
    }
