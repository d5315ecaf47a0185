"""Isolation tiers by name, and what each is made of and allows to be claimed. Never a silent downgrade.

T0 in-process · T1 process · T2 sandbox without privileges · T3 with its own user and cgroup · T4 another machine.
"""

from __future__ import annotations

import resource
import sys
from typing import Any, Literal

import msgspec

from proctor.errors import IsolationError

__all__ = ["Isolation", "Tier", "isolation_for"]

Tier = Literal["T0", "T1", "T2", "T3", "T4"]
_ORDER = ("T0", "T1", "T2", "T3", "T4")
_CLAIMS = {
    "T0": "for development; nothing about cheating can be said",
    "T1": "protects against accidents only; an agent that means to can reach what its user can reach",
}


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for this run's agents: ``isolation.json``."""

    v: int = 1
    demanded: str
    tier: str
    claim: str
    holds: dict[str, bool]
    limits: dict[str, int]
    platform: str

    def summary(self) -> dict[str, Any]:
        """What the report says of it."""
        return {"demanded": self.demanded, "tier": self.tier, "claim": self.claim}


def isolation_for(demanded: str, *, memory_bytes: int, file_bytes: int) -> Isolation:
    """The tier that agents get here. Raises ``IsolationError`` if the suite demands more than can be had."""
    limits_work = hasattr(resource, "prlimit")
    if _ORDER.index(demanded) > _ORDER.index("T1"):
        raise IsolationError(
            f"the suite demands isolation tier {demanded}",
            expected=demanded,
            found="T1 (separate processes), the highest tier of this version",
            fix="run a suite that demands T1, or lower the demand in suite.toml and say so",
            code="tier_unmet",
        )
    return Isolation(
        demanded=demanded,
        tier="T1",
        claim=_CLAIMS["T1"],
        holds={
            "separate_process": True,
            "empty_environment": True,
            "no_inherited_descriptors": True,
            "own_session": True,
            "memory_and_file_limits": limits_work,
        },
        limits={"memory_bytes": memory_bytes, "file_bytes": file_bytes} if limits_work else {},
        platform=sys.platform,
    )
