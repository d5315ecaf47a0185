"""Isolation tiers by name: what each is made of, what it allows to be claimed, and one of them ready for use.

T0 in-process · T1 process · T2 sandbox without privileges · T3 with its own user and cgroup · T4 another machine.
A demanded tier is had, or there is no run: never a silent downgrade. Left out: how T2 is made (``sandbox.confine``).
"""

from __future__ import annotations

import resource
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.errors import IsolationError
from proctor.sandbox.confine import Confinement, Sandbox
from proctor.sandbox.launcher import Launch, Launcher
from proctor.sandbox.selftest import AGENT_FOLDER, SelfTestResult, Surroundings, run_self_test

__all__ = [
    "HIGHEST",
    "TIERS",
    "IsolatedAgents",
    "Isolation",
    "Tier",
    "isolate",
    "isolation_file",
    "isolation_files",
    "stricter",
]

Tier = Literal["T0", "T1", "T2", "T3", "T4"]
TIERS: tuple[Tier, ...] = ("T0", "T1", "T2", "T3", "T4")
HIGHEST: Tier = "T2"
_CLAIMS: dict[str, str] = {
    "T1": "protects against accidents only; an agent that means to can reach what its user can reach",
    "T2": "the agent can't reach graders, record, keys or other cells, short of a kernel bug",
}


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for this run's agents: ``isolation.json``. ``self_test`` is attempt → whether it came through;
    ``allowed`` and ``observed`` are what an agent may see around it and what the self-test saw in its place; null where
    none was made. ``limits`` are ceilings; ``use`` of them is in ``isolation.observed.json``."""

    v: int = 1
    demanded: str
    tier: str
    claim: str
    holds: dict[str, bool]
    limits: dict[str, int]
    network: bool
    runs_as: str
    platform: str
    self_test: dict[str, bool] | None = None
    allowed: Surroundings | None = None
    observed: Surroundings | None = None

    def summary(self) -> dict[str, Any]:
        """What the report says of it."""
        attempts = self.self_test or {}
        return {
            "demanded": self.demanded,
            "tier": self.tier,
            "claim": self.claim,
            "self_test": {"attempted": len(attempts), "blocked": sum(not found for found in attempts.values())}
            if attempts
            else None,
        }


class IsolatedAgents:
    """A tier that holds: says how to start an agent in it, and has the launcher that does. Close it when the run is
    over."""

    def __init__(self, record: Isolation, sandbox: Sandbox | None, launcher: Launcher) -> None:
        self.record = record
        self.launcher = launcher
        self._sandbox = sandbox

    def launch(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        home: Path,
        ceilings: Mapping[str, int],
    ) -> Launch:
        """How to start ``argv``. In a sandbox environment and ceilings are its own, and home is its own /tmp."""
        if self._sandbox is None:
            own = {**environment, "HOME": str(home), "TMPDIR": str(home)}
            return Launch(argv=argv, environment=own, ceilings=ceilings)
        command, inherited = self._sandbox.wrap(argv, folder)
        return Launch(argv=command, environment={}, inherited=inherited)

    def close(self) -> None:
        """Let go of what the tier holds, and end whatever still runs in it."""
        self.launcher.close()
        if self._sandbox is not None:
            self._sandbox.close()


def isolation_file(number: int) -> str:
    """The file of a run's isolation record: of its start (0), or of the ``number``-th time that it was gone on with,
    where isolation was found otherwise than before."""
    return "isolation.json" if number == 0 else f"isolation.{number}.json"


def isolation_files(digests: Iterable[str]) -> dict[str, str]:
    """Digest → file, from the digests that a run's log names in order: a file for each that was new."""
    files: dict[str, str] = {}
    for number, digest in enumerate(digests):
        files.setdefault(digest, isolation_file(number))
    return files


def stricter(one: Tier, other: Tier | None) -> Tier:
    """The stricter of two tiers."""
    return one if other is None or TIERS.index(one) >= TIERS.index(other) else other


def isolate(demanded: Tier, confinement: Confinement, *, memory_bytes: int, file_bytes: int) -> IsolatedAgents:
    """The demanded tier (T1 at least), tried out. Raises ``IsolationError`` if it can't be had here."""
    if TIERS.index(demanded) > TIERS.index(HIGHEST):
        raise IsolationError(
            f"isolation tier {demanded} is demanded",
            expected=demanded,
            found=f"{HIGHEST}, the highest tier of this version",
            fix="lower the demand in suite.toml and say so",
            code="tier_unmet",
        )
    if TIERS.index(demanded) <= TIERS.index("T1"):
        return IsolatedAgents(_process_record(demanded, memory_bytes, file_bytes), None, Launcher())
    sandbox, launcher = Sandbox(confinement), Launcher()
    try:
        result = run_self_test(launcher, sandbox.wrap)
        allowed = _allowed(sandbox)
        _must_hold(demanded, result, allowed)
    except BaseException:
        launcher.close()
        sandbox.close()
        raise
    return IsolatedAgents(_sandbox_record(demanded, sandbox, result, allowed), sandbox, launcher)


def _must_hold(demanded: Tier, result: SelfTestResult, allowed: Surroundings) -> None:
    outside = result.observed.outside(allowed)
    if result.open or outside:
        raise IsolationError(
            f"isolation tier {demanded} does not hold on this machine",
            expected="every escape attempt of the self-test blocked, and nothing around the agent but what is allowed",
            found="; ".join([f"came through: {', '.join(result.open)}"] * bool(result.open) + outside),
            fix="`proctor doctor` says what this machine offers",
            code="tier_unmet",
        )


def _allowed(sandbox: Sandbox) -> Surroundings:
    """What an agent may see, the same for every agent but for its own folder. Without a network there is still a
    loopback interface, of the sandbox's own."""
    return Surroundings(
        mounts=sandbox.mounts(sys.executable, Path(AGENT_FOLDER)),
        environment=sandbox.environment_names,
        interfaces=tuple(name for _, name in socket.if_nameindex()) if sandbox.confinement.network else ("lo",),
        user=sandbox.uid,
        descriptors=(),
    )


def _process_record(demanded: Tier, memory_bytes: int, file_bytes: int) -> Isolation:
    limits_work = hasattr(resource, "prlimit")
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
        network=True,
        runs_as="the same user as Proctor",
        platform=sys.platform,
    )


def _sandbox_record(demanded: Tier, sandbox: Sandbox, result: SelfTestResult, allowed: Surroundings) -> Isolation:
    bound = sandbox.confinement
    return Isolation(
        demanded=demanded,
        tier="T2",
        claim=_CLAIMS["T2"],
        holds={
            "separate_process": True,
            "empty_environment": True,
            "no_inherited_descriptors": True,
            "own_session": True,
            "memory_and_file_limits": True,
            "own_process_namespace": True,
            "own_file_system": True,
            "system_call_filter": True,
            "no_network": not bound.network,
        },
        limits={
            "data_bytes": bound.data_bytes,
            "file_bytes": bound.file_bytes,
            "tmp_bytes": bound.tmp_bytes,
            "processes": bound.processes,
            "open_files": bound.open_files,
        },
        network=bound.network,
        runs_as=sandbox.runs_as,
        platform=sys.platform,
        self_test=result.attempts,
        allowed=allowed,
        observed=result.observed,
    )
