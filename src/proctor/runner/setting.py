"""What a run works with, loaded and tried out before anything is written or any agent started.

The suite's code loads, every case fits its world, the gate parses, the isolation holds: whatever is wrong with any of
these stops the run here. Left out: the run's folder and logs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.agents.resolve import AgentCommand
from proctor.agents.stdio import AgentLimits
from proctor.errors import IsolationError, Place
from proctor.gate.model import Policy
from proctor.grade.host import GraderProcess
from proctor.ledger.keys import home_folder
from proctor.runner.floor import do_nothing_floor
from proctor.runner.grading import code_meanings
from proctor.runner.verdict import gate_policy
from proctor.sandbox.confine import Confinement
from proctor.sandbox.tiers import IsolatedAgents, Isolation, isolate
from proctor.score.summary import Rate
from proctor.suite.load import Suite
from proctor.suite.model import Case
from proctor.suite.plan import Plan
from proctor.worlds.remote import RemoteWorld

__all__ = ["Agents", "Children", "Setting", "isolate_agents", "prepare", "start_children"]


@dataclass(frozen=True, kw_only=True)
class Agents:
    """How agents are started: the command, and the isolation that it is started in."""

    command: AgentCommand
    isolated: IsolatedAgents


@dataclass(frozen=True, kw_only=True)
class Children:
    """The processes that the suite's own code runs in."""

    world: RemoteWorld
    graders: GraderProcess


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A run's parts. ``agents`` is None where no cell is left to run."""

    suite: Suite
    plan: Plan
    cases: Mapping[str, Case]
    policy: Policy
    world: RemoteWorld
    graders: GraderProcess
    floor: Rate | None
    codes: Mapping[str, str]
    isolation: Isolation
    agents: Agents | None


def start_children(resources: contextlib.ExitStack, suite: Suite) -> Children:
    """Start the suite's world and graders; they load while the caller goes on."""
    return Children(
        world=resources.enter_context(contextlib.closing(RemoteWorld(suite.folder, suite.spec.world))),
        graders=resources.enter_context(contextlib.closing(GraderProcess(suite.folder))),
    )


def prepare(
    suite: Suite,
    plan: Plan,
    cases: Sequence[Case],
    children: Children,
    *,
    isolation: Isolation,
    agents: Agents | None,
) -> Setting:
    """Everything together. Raises ``SuiteError`` where the suite contradicts itself."""
    policy = gate_policy(suite)
    codes = code_meanings(children.graders)
    floor = do_nothing_floor(suite, plan, cases, children.world, children.graders)
    return Setting(
        suite=suite,
        plan=plan,
        cases={case.id: case for case in cases},
        policy=policy,
        world=children.world,
        graders=children.graders,
        floor=floor,
        codes=codes,
        isolation=isolation,
        agents=agents,
    )


def isolate_agents(plan: Plan, suite_folder: Path, command: AgentCommand, root: Path) -> IsolatedAgents:
    """The plan's tier for this agent: it sees its own folder, never the suite's keys, the runs or the signing key."""
    hidden = (suite_folder.resolve(), root.absolute().parent.resolve(), home_folder(os.environ).resolve())
    if plan.isolation != "T1" and command.folder.resolve() in hidden:
        raise IsolationError(
            "the agent's folder holds what the agent must not see",
            place=Place(str(command.folder)),
            expected="a folder of the agent's own, apart from the suite and the runs",
            fix="move the agent, or start it from another folder",
            code="tier_unmet",
        )
    limits = AgentLimits()
    confinement = Confinement(hidden=hidden, environment={"PATH": command.environment["PATH"]})
    return isolate(plan.isolation, confinement, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes)
