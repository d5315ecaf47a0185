"""The gate against the suite: names, rules that nobody could pass or none could fail, and what an agent that does
nothing would score."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.codec.models import nearest
from proctor.errors import InputError, Place, ProctorError
from proctor.gate.cells import PlannedCell
from proctor.gate.foresee import Chance, chance_of_passing, check_policy
from proctor.gate.model import MetricRule, Policy
from proctor.gate.policy import Known, parse_policy
from proctor.grade.host import CodeEntry, GraderProcess
from proctor.grade.registry import REASONS
from proctor.runner.floor import nothing_done
from proctor.score.cells import CellRecord
from proctor.score.summary import Rate
from proctor.suite.gather import gather
from proctor.suite.plan import Candidate, Plan, make_plan
from proctor.worlds.remote import RemoteWorld

__all__ = ["check_agents", "check_floor", "check_gate", "plan_of"]


def plan_of(draft: Draft, policy: Policy, *, seed: int) -> Plan:
    """The plan that a run of the suite would have."""
    candidate = Candidate(agent="nobody", digest="")
    cases = [case for case, _ in draft.cases]
    return make_plan(draft.suite, cases, candidate, gate_digest=policy.digest, seed=seed)


def check_gate(
    draft: Draft, codes: Sequence[CodeEntry] | None, mistakes: Mistakes
) -> tuple[Policy | None, Chance | None]:
    """The gate as far as it can be read, and a good agent's chance of passing it."""
    cases = [case for case, _ in draft.cases]
    labels = () if draft.spec.records is None else draft.spec.records.labels
    known = Known(
        codes=None if codes is None else [*REASONS, *(entry.code for entry in codes), *labels],
        slices={case.slice for case in cases} if cases else None,
        cases={case.id for case in cases} if cases else None,
    )
    if not draft.suite.gate_values:
        return None, None
    policy, found = gather(
        draft.suite.gate_values,
        lambda values: parse_policy(values, Place("gate"), known=known),
        lambda error: error.place.field if error.place and error.place.field else "",
    )
    for error in found:
        if len(found) > 1 and error.problem.startswith("the gate has no rule"):
            continue
        _take(draft, error, mistakes)
    if policy is None or not cases:
        return policy, None
    planned = [
        PlannedCell(case=case.id, run=run, slice=case.slice, group=case.group)
        for case in cases
        for run in range(1, draft.spec.runs + 1)
    ]
    for finding in check_policy(policy, planned):
        mistakes.add(
            f"{finding.problem} the rule {finding.rule}: {finding.detail}",
            draft.suite.gate_place(finding.rule),
            code="gate_impossible" if finding.problem == "nobody can pass" else "gate_empty",
            expected="a rule that some agents pass and others fail",
            fix=_gate_fix(finding.rule, finding.problem),
        )
    return policy, chance_of_passing(policy, planned) if policy.rules else None


def _gate_fix(rule: str, problem: str) -> str:
    if problem == "none can fail":
        return "raise its figure above 0, or remove the rule"
    if rule.endswith("lower_bound"):
        return "add cases of other groups, or bound the rate itself: { rate = … }"
    return "lower its figure, or plan more runs"


def _take(draft: Draft, error: InputError, mistakes: Mistakes) -> None:
    path = error.place.field if error.place and error.place.field else ""
    error.place = draft.suite.gate_place(path)
    mistakes.take(error, fix="see the gate's rules in docs/writing-a-suite.md")


def check_floor(draft: Draft, plan: Plan, policy: Policy, mistakes: Mistakes) -> Rate | None:
    """Grade an agent that does nothing on every case: the floor, keys that hold already, graders that break, and
    metrics that no grader gives."""
    suite, refs = draft.suite, {ref.id: ref for ref in plan.cases}
    records: list[CellRecord] = []
    with (
        contextlib.closing(RemoteWorld(suite.folder, suite.spec.world)) as world,
        contextlib.closing(GraderProcess(suite.folder)) as graders,
    ):
        for case, place in draft.cases:
            try:
                record = nothing_done(suite, plan, case, refs[case.id], world=world, graders=graders)
            except ProctorError as error:
                mistakes.take(error, Place(place.file, place.line, "events"), fix="mend the event, or its arguments")
                return None
            records.append(record)
            if record.outcome == "grader_error":
                _broken_grader(draft, record, mistakes)
            _holds_already(case.expect, record, place, mistakes)
    _metrics(draft, policy, records, mistakes)
    if suite.spec.cycle.ends_with is not None:
        return Rate.of(0, len(records))
    passed = sum(record.passed for record in records)
    if records and passed == len(records):
        mistakes.add(
            "an agent that does nothing passes every case",
            draft.place("graders"),
            code="floor",
            expected="cases that ask for something to be done",
            found=f"{passed} of {len(records)} cases",
            fix="say in the cases what must hold at the end (expect, answer), and name graders that look at it",
        )
    return Rate.of(passed, len(records))


def _holds_already(expect: object, record: CellRecord, place: Place, mistakes: Mistakes) -> None:
    asked = isinstance(expect, dict) and any(expect.values())
    state = next((grade for grade in record.grades if grade.grader == "state"), None)
    if asked and state is not None and state.passed:
        mistakes.warn(
            f"the start state of case {record.case_id} already holds what is expected",
            Place(place.file, place.line, "expect"),
            code="holds_already",
            fix="expect what the task changes, or start from another setup",
        )


def _broken_grader(draft: Draft, record: CellRecord, mistakes: Mistakes) -> None:
    finding = next((f for _, f in record.findings if f.code in ("grader_error", "unregistered_code")), None)
    detail = finding.detail if finding is not None else record.detail
    file, line = _where(detail)
    mistakes.add(
        f"a grader breaks on an agent that does nothing: {detail}",
        draft.file_place(file, line) if file else draft.place("graders"),
        code=finding.code if finding is not None else "grader_error",
        expected="a grade for whatever an agent left behind",
        found=f"case {record.case_id}",
        fix="let the grader cope with what is missing, and declare every code that it gives",
    )


def _where(detail: str) -> tuple[str, int | None]:
    """``… (grader.py:7)`` → file and line."""
    inner = detail.rpartition("(")[2].rstrip(")")
    file, _, line = inner.rpartition(":")
    return (file, int(line)) if file.endswith(".py") and line.isdecimal() else ("", None)


def _metrics(draft: Draft, policy: Policy, records: Sequence[CellRecord], mistakes: Mistakes) -> None:
    if any(record.outcome == "grader_error" for record in records):
        return
    given = sorted({metric.name for record in records for metric in record.metrics})
    for name, derived in draft.spec.metrics.items():
        for number, factor in enumerate(derived.product):
            if factor not in given:
                place = draft.place(f"metrics.{name}.product[{number}]")
                mistakes.unknown("metric", factor, given, place, code="unknown_metric")
    for rule in policy.rules:
        if isinstance(rule, MetricRule) and rule.name not in given and rule.name not in draft.spec.metrics:
            place = draft.suite.gate_place(f"metric.{rule.name}")
            mistakes.unknown("metric", rule.name, [*given, *draft.spec.metrics], place, code="unknown_metric")


def check_agents(draft: Draft, codes: Sequence[CodeEntry] | None, mistakes: Mistakes) -> None:
    """The agents that ship with the suite: their files are there, and the codes that must catch them exist."""
    if draft.spec.agents is None or not (draft.suite.folder / draft.spec.agents).is_file():
        return
    place = draft.file_place(draft.spec.agents)
    try:
        agents = draft.suite.agents
    except ProctorError as error:
        mistakes.take(error, place)
        return
    names = [agent.name for agent in agents]
    for number, name in enumerate(draft.spec.demo):
        if name not in names:
            mistakes.unknown("shipped agent", name, names, draft.place(f"demo[{number}]"), code="unknown_agent")
    declared = [*REASONS, *(entry.code for entry in codes or ())]
    short = {code.rpartition(".")[2] for code in declared}
    for number, agent in enumerate(agents):
        where = Place(place.file, None, f"agent[{number}]")
        for word in agent.command:
            if word.endswith(".py") and not (draft.suite.agents_folder / word).is_file():
                fix = f"create {word} beside {draft.spec.agents}"
                mistakes.add(f"there is no file {word!r}", where, code="no_file", expected="a file there", fix=fix)
        for code in agent.caught_by:
            if codes is not None and code not in declared and code not in short:
                guess = nearest(code, short)
                mistakes.add(
                    f"no grader gives the code {code!r}",
                    where,
                    code="unknown_code",
                    expected="a code that a grader declares",
                    found=code,
                    fix=f"did you mean {guess!r}?" if guess else "declare it in @grader(codes={…})",
                )
