"""Cases against the world, the contract and the suite's types: rows, schedules, users, answers, expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.errors import Place
from proctor.suite.model import Case
from proctor.worlds.probe import WorldProbe

__all__ = ["check_cases", "check_habits"]

_encode = msgspec.json.Encoder().encode


def check_cases(draft: Draft, probe: WorldProbe, mistakes: Mistakes) -> None:
    """Every case by itself."""
    for case, place in draft.cases:
        _rows(case.setup, "setup", place, probe, mistakes, whole=True)
        _rows(case.expect or {}, "expect", place, probe, mistakes, whole=False)
        _events(draft, case, place, probe, mistakes)
        _faults(draft, case, place, probe, mistakes)


def _at(place: Place, path: str) -> Place:
    return Place(place.file, place.line, path)


def _rows(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    key: str,
    place: Place,
    probe: WorldProbe,
    mistakes: Mistakes,
    *,
    whole: bool,
) -> None:
    columns = probe.facts.columns
    fitting: dict[str, list[Mapping[str, Any]]] = {}
    for table, rows in tables.items():
        if table not in columns:
            mistakes.unknown("table", table, list(columns), _at(place, f"{key}.{table}"), code="unknown_table")
            continue
        fitting[table] = []
        for number, row in enumerate(rows):
            for column in row:
                if column not in columns[table]:
                    where = _at(place, f"{key}.{table}[{number}].{column}")
                    mistakes.unknown(f"column in {table}", column, list(columns[table]), where, code="unknown_column")
            fitting[table].append({name: value for name, value in row.items() if name in columns[table]})
    if not _fits(fitting):
        fix = "write a smaller number, or a text"
        mistakes.add("an integer of more than 64 bits", _at(place, key), code="value", expected="±(2^63−1)", fix=fix)
        return
    for found in probe.row_problems(fitting, whole=whole):
        path = f"{key}.{found.table}[{found.number}]" + (f".{found.column}" if found.column else "")
        value = fitting[found.table][found.number] if found.number < len(fitting[found.table]) else {}
        mistakes.add(
            f"the row contradicts the schema: {found.problem}",
            _at(place, path),
            code=f"{key}_contradicts_schema",
            expected=f"a row that {found.table} can hold",
            found=value.get(found.column) if found.column else dict(value),
            fix="change the value, or the schema in the world's file",
        )


def _fits(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_fits, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_fits, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _events(draft: Draft, case: Case, place: Place, probe: WorldProbe, mistakes: Mistakes) -> None:
    events = {event.name: event for event in probe.facts.events}
    tools = [tool.name for tool in probe.facts.tools]
    for number, event in enumerate(case.events):
        path = f"events[{number}]"
        _cycle(event.cycle, case, _at(place, f"{path}.cycle"), mistakes)
        if event.do not in events:
            mistakes.unknown("event", event.do, list(events), _at(place, f"{path}.do"), code="unknown_event")
            continue
        problem = probe.event_problem(event.do, _encode(event.args))
        if problem is not None:
            names = ", ".join(events[event.do].parameters)
            mistakes.add(
                f"the event {event.do} can't take these arguments: {problem}",
                _at(place, f"{path}.args"),
                code="event_arguments",
                expected=f"{event.do}({names})",
                found=event.args,
                fix="name its arguments as the world's file does",
            )
        if event.after is not None:
            _tool(
                draft,
                event.after.tool,
                event.after.nth,
                _at(place, f"{path}.after.tool"),
                tools=tools,
                mistakes=mistakes,
            )


def _faults(draft: Draft, case: Case, place: Place, probe: WorldProbe, mistakes: Mistakes) -> None:
    seen: set[tuple[int, str, int]] = set()
    tools = [tool.name for tool in probe.facts.tools]
    for number, fault in enumerate(case.faults):
        path = f"faults[{number}]"
        _cycle(fault.cycle, case, _at(place, f"{path}.cycle"), mistakes)
        _tool(draft, fault.tool, fault.nth, _at(place, f"{path}.tool"), tools=tools, mistakes=mistakes)
        if (fault.cycle, fault.tool, fault.nth) in seen:
            mistakes.add(
                "two faults strike the same call",
                _at(place, path),
                code="duplicate_fault",
                expected="one fault a cycle, tool and nth call",
                found=f"cycle {fault.cycle}, {fault.tool}, call {fault.nth}",
                fix="change nth, or remove one of the two",
            )
        seen.add((fault.cycle, fault.tool, fault.nth))


def _cycle(cycle: int, case: Case, place: Place, mistakes: Mistakes) -> None:
    if cycle > case.cycles:
        mistakes.add(
            f"cycle {cycle} never comes: the case has {case.cycles}",
            place,
            code="cycle_beyond",
            expected=f"1 to {case.cycles}",
            found=cycle,
            fix=f'write "cycles": {cycle} in the case, or an earlier cycle here',
        )


def _tool(draft: Draft, tool: str, nth: int, place: Place, *, tools: list[str], mistakes: Mistakes) -> None:
    ceiling = draft.spec.contract.max_calls.get(tool)
    if tool not in tools:
        mistakes.unknown("tool", tool, tools, place, code="unknown_tool")
    elif tool in draft.spec.contract.forbid:
        mistakes.add(
            f"{tool} is forbidden, so no call of it is ever permitted",
            place,
            code="never_fires",
            expected="a tool that agents may call",
            found=tool,
            fix="name another tool",
        )
    elif ceiling is not None and nth > ceiling:
        mistakes.add(
            f"call {nth} of {tool} is never permitted: the contract allows {ceiling}",
            place,
            code="never_fires",
            expected=f"nth from 1 to {ceiling}",
            found=nth,
            fix="lower nth, or raise contract.max_calls",
        )


def check_habits(draft: Draft, mistakes: Mistakes) -> None:
    """What needs no world: users, answers, expectations that nothing looks at, budgets that say nothing."""
    _users(draft, mistakes)
    _answers(draft, mistakes)
    _graders(draft, mistakes)
    _budget(draft, mistakes)


def _users(draft: Draft, mistakes: Mistakes) -> None:
    user = draft.spec.user
    for case, place in draft.cases:
        if case.user and user is None:
            mistakes.add(
                "the case has a user's turns, but the suite has no user",
                _at(place, "user"),
                code="no_user",
                expected='user = { kind = "scripted" } in suite.toml',
                fix="add it to suite.toml, or remove the turns",
            )
        elif user is not None and len(case.user) > user.max_turns:
            mistakes.add(
                "the last turns are never said",
                _at(place, "user"),
                code="too_many_turns",
                expected=f"at most {user.max_turns} turns (user.max_turns)",
                found=len(case.user),
                fix=f"write max_turns = {len(case.user)} in suite.toml, or fewer turns",
            )
    if user is not None and draft.cases and not any(case.user for case, _ in draft.cases):
        fix = 'give a case turns: "user": ["…"], or remove user from suite.toml'
        mistakes.warn("the suite has a user, but no case has a turn", draft.place("user"), code="no_turns", fix=fix)


def _answers(draft: Draft, mistakes: Mistakes) -> None:
    answer = draft.suite.answer
    for case, place in draft.cases:
        if case.answer is None:
            continue
        if answer is None:
            mistakes.add(
                "the case expects an answer, but the suite declares none",
                _at(place, "answer"),
                code="no_answer",
                expected='answer = { field = "bool" } in suite.toml',
                fix="declare the answer's fields in suite.toml",
            )
            continue
        problem = answer.problem({**answer.empty(), **case.answer})
        if problem is not None:
            mistakes.add(
                f"no agent could give this answer: {problem}",
                _at(place, "answer"),
                code="answer_type",
                expected=f"fields and types as in suite.toml: {', '.join(answer.empty())}",
                found=case.answer,
                fix="change the answer, or its type in suite.toml",
            )


def _graders(draft: Draft, mistakes: Mistakes) -> None:
    spec, graders = draft.spec, set(draft.spec.graders)
    own = any(".py:" in name for name in graders)
    cases = [case for case, _ in draft.cases]
    wanted = {
        "state": ("expect", any(case.expect is not None for case in cases)),
        "answer": ("answer", any(case.answer is not None for case in cases)),
        "contract": ("contract", bool(spec.contract.forbid or spec.contract.max_calls)),
        "budget": ("budget", spec.budget != type(spec.budget)()),
    }
    for name, (what, given) in wanted.items():
        looked_at = name in graders or (name == "contract" and "process" in graders)
        if given and not looked_at and not own:
            fix = f"add {name!r} to graders"
            mistakes.warn(f"{what} is given, but no grader looks at it", draft.place("graders"), code="unused", fix=fix)
    if "answer" in graders and cases and not wanted["answer"][1]:
        fix = 'give cases an "answer", or remove the grader'
        mistakes.warn("no case says which answer is right", draft.place("graders"), code="unused", fix=fix)
    for case, place in draft.cases:
        if not own and case.expect is None and case.answer is None and case.key is None:
            mistakes.warn(
                f"nothing is expected in case {case.id}",
                place,
                code="nothing_expected",
                fix='say what must hold at the end: "expect": {"table": [rows]}',
            )


def _budget(draft: Draft, mistakes: Mistakes) -> None:
    spec = draft.spec
    most = max((case.cycles for case, _ in draft.cases), default=1)
    if spec.cycle.ends_with and spec.budget.calls is not None and spec.budget.calls < most:
        mistakes.add(
            f"nobody can keep this budget: {most} cycles need at least {most} calls of {spec.cycle.ends_with}",
            draft.place("budget.calls"),
            code="budget",
            expected=f"at least {most}",
            found=spec.budget.calls,
            fix=f"write calls = {most} or more",
        )
    for name, ceiling in spec.contract.max_calls.items():
        if spec.budget.calls is not None and ceiling > spec.budget.calls:
            mistakes.warn(
                f"the ceiling of {name} is above the budget of all calls",
                draft.place(f"contract.max_calls.{name}"),
                code="budget",
                fix="lower it, or raise budget.calls",
            )
    if spec.budget.seconds is not None and spec.budget.seconds < 1:
        mistakes.warn(
            "an agent's process may need longer than that to start",
            draft.place("budget.seconds"),
            code="budget",
            found=spec.budget.seconds,
            fix="budget.seconds is in seconds, over all of a cell's attempts",
        )
