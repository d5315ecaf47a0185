"""``check_suite``: everything that can be known of a suite before an agent runs.

Each part is checked as far as the parts before it can be read: names need a world that loads, the floor needs a suite
without mistakes. Nothing is written, and no agent is started.
"""

from __future__ import annotations

from pathlib import Path

from proctor.checking.cases import check_cases, check_habits
from proctor.checking.code import check_graders, check_sources, check_tools, open_probe
from proctor.checking.gate import check_agents, check_floor, check_gate, plan_of
from proctor.checking.keys import check_keys
from proctor.checking.leaks import check_leaks
from proctor.checking.model import Mistakes, SuiteCheck
from proctor.checking.read import Draft, read_draft
from proctor.checking.records import check_record_gate, check_record_section
from proctor.errors import InfrastructureError, ProctorError
from proctor.gate.foresee import Chance
from proctor.sandbox.tiers import HIGHEST, TIERS
from proctor.score.summary import Rate
from proctor.suite.load import suite_folder

__all__ = ["check_suite"]


def check_suite(reference: str | Path, *, seed: int = 1) -> SuiteCheck:
    """All mistakes of a suite, named like for ``proctor run``. Raises ``UsageError`` where there is no suite."""
    folder = suite_folder(reference)
    mistakes = Mistakes(folder)
    draft = read_draft(folder, mistakes, seed=seed)
    if draft is None:
        return _result(folder, None, mistakes)
    check_record_section(draft, mistakes)
    if not draft.spec.has_world:
        check_record_gate(draft, mistakes)
        return _result(folder, draft, mistakes)
    check_habits(draft, mistakes)
    _isolation(draft, mistakes)
    probe = open_probe(draft, mistakes)
    try:
        check_sources(draft, probe, mistakes)
        if probe is not None:
            check_tools(draft, probe, mistakes)
            check_cases(draft, probe, mistakes)
            check_keys(draft, probe, mistakes)
            check_leaks(draft, probe, mistakes)
    except InfrastructureError as error:
        mistakes.take(error, draft.file_place(draft.spec.world), fix="mend the world's code")
    finally:
        if probe is not None:
            probe.close()
    codes = check_graders(draft, mistakes)
    policy, chance = check_gate(draft, codes, mistakes)
    check_agents(draft, codes, mistakes)
    floor = None
    if policy is not None and draft.cases and codes is not None and not _blocks_floor(mistakes):
        try:
            floor = check_floor(draft, plan_of(draft, policy, seed=seed), policy, mistakes)
        except ProctorError as error:
            mistakes.take(error, draft.place("graders"))
    return _result(folder, draft, mistakes, floor=floor, chance=chance)


def _blocks_floor(mistakes: Mistakes) -> bool:
    """A gate that can't be passed or failed, or one that names what isn't there, doesn't keep cases from being
    graded."""
    harmless = ("gate_impossible", "gate_empty", "gate_policy", "tool_description")
    return any(m.level == "mistake" and m.code not in harmless for m in mistakes.in_order())


def _isolation(draft: Draft, mistakes: Mistakes) -> None:
    demanded = draft.spec.isolation
    if TIERS.index(demanded) > TIERS.index(HIGHEST):
        mistakes.warn(
            f"the suite demands isolation tier {demanded}, above {HIGHEST}, the highest that is made here",
            draft.place("isolation"),
            code="tier_unmet",
            found=demanded,
            fix=f"no run can be had until it demands {HIGHEST} or less",
        )


def _result(
    folder: Path, draft: Draft | None, mistakes: Mistakes, floor: Rate | None = None, chance: Chance | None = None
) -> SuiteCheck:
    cases = [case for case, _ in draft.cases] if draft is not None else []
    return SuiteCheck(
        folder=str(folder),
        suite=draft.spec.name if draft is not None else folder.name,
        cases=len(cases),
        groups=len({case.group or f"case {case.id}" for case in cases}),
        runs=draft.spec.runs if draft is not None else 0,
        mistakes=mistakes.in_order(),
        floor=floor,
        chance=chance,
    )
