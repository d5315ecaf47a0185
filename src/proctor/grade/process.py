"""``grade_process``: were the required checks made before the case was routed, with success; was anything forbidden?

Pure, usable alone, from typed steps or from the rows of a trace file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import Place, SuiteError
from proctor.grade.casefile import layout_of
from proctor.grade.keys import Check, Key, read_key, required
from proctor.grade.model import Finding, Grade
from proctor.ledger.trace import Step
from proctor.suite.layout import Layout

__all__ = ["grade_process", "read_steps"]

_KNOWN = frozenset(Step.__struct_fields__)


def read_steps(trace: Sequence[Step | Mapping[str, Any]]) -> tuple[Step, ...]:
    """Typed steps from trace rows; only ``step``, ``actor`` and ``action`` must be there. Raises ``SuiteError``."""
    steps = []
    for number, row in enumerate(trace, 1):
        if isinstance(row, Step):
            steps.append(row)
            continue
        absent = [name for name in ("step", "actor", "action") if name not in row]
        if absent:
            raise SuiteError(
                f"a trace row lacks {absent[0]!r}",
                place=Place(None, number, absent[0]),
                expected="run_id, task_id, case_id, step, actor, action, args, result, at",
                code="trace",
            )
        given = {name: value for name, value in row.items() if name in _KNOWN}
        steps.append(Step(**{"event": 0, "cycle": 1, "args": {}, "result": None, **given}))
    return tuple(steps)


def grade_process(
    trace: Sequence[Step | Mapping[str, Any]], key: Key | Mapping[str, Any], layout: Layout | None = None
) -> Grade:
    """``missing_check``, ``late_check`` (first success after the routing), ``failed_check_ignored`` (tried before it,
    never with success), ``forbidden_action``, ``unknown_action``.

    Where the case was never routed, a check may come at any time. A call that the gateway refused counts as made for
    ``forbidden_action`` and never as a check."""
    right = read_key(key)
    names = layout_of(right, layout)
    calls = [step for step in read_steps(trace) if step.actor == "agent" and step.action != "finish"]
    routed = next((step.step for step in calls if step.action == names.route_action and _succeeded(step)), None)
    findings = list(_conduct(calls, right, names))
    for check in required(right.expected_checks, "expected_checks"):
        findings.extend(_check(check, calls, routed))
    return Grade(grader="process", findings=tuple(findings))


def _succeeded(step: Step) -> bool:
    """Whether the caller saw the call succeed. A foreign trace may say ``{"error": …}`` in the result alone."""
    failed = isinstance(step.result, Mapping) and step.result.get("error") not in (None, False, "")
    return step.decision == "allowed" and step.error is None and not failed


def _conduct(calls: Sequence[Step], key: Key, names: Layout) -> Iterator[Finding]:
    for step in calls:
        if step.action in key.forbidden_actions or step.decision == "forbidden":
            code, detail = "forbidden_action", f"{step.action} is forbidden"
        elif step.decision == "unknown_tool" or (names.actions and step.action not in names.actions):
            code, detail = "unknown_action", f"there is no {step.action}"
        else:
            continue
        yield Finding(code=code, detail=detail, steps=(step.step,), cycle=step.cycle, field="action", found=step.action)


def _check(check: Check, calls: Sequence[Step], routed: int | None) -> Iterator[Finding]:
    made = [step for step in calls if step.action == check.action and _matches(check.args_match, step.args)]
    before = [step for step in made if routed is None or step.step < routed]
    if any(_succeeded(step) for step in before):
        return
    wanted = {"action": check.action, "args_match": check.args_match}
    steps: tuple[int, ...] = ()
    late = [step for step in made if step not in before and _succeeded(step)]
    if late and routed is not None:
        steps, code, detail = (routed, late[0].step), "late_check", "made after the case was routed"
    elif before:
        steps = tuple(step.step for step in before) + (() if routed is None else (routed,))
        code, detail = "failed_check_ignored", f"failed: {before[-1].error or 'error'}"
    else:
        steps, code, detail = () if routed is None else (routed,), "missing_check", "never made with these arguments"
        other = [step for step in calls if step.action == check.action]
        yield Finding(
            code=code, detail=f"{check.action}: {detail}", steps=steps, field=check.action, expected=wanted,
            found=[step.args for step in other][:5] or None,
        )  # fmt: skip
        return
    yield Finding(
        code=code, detail=f"{check.action}: {detail}", steps=steps, field=check.action, expected=wanted,
        found=(late or before)[0].args,
    )  # fmt: skip


def _matches(wanted: Mapping[str, Any], args: Any) -> bool:
    given = args if isinstance(args, Mapping) else {}
    return all(name in given and _fits(value, given[name]) for name, value in wanted.items())


def _fits(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Mapping) and set(wanted) == {"one_of"}:
        return any(_fits(one, value) for one in wanted["one_of"])
    if isinstance(wanted, Mapping) and set(wanted) == {"contains"}:
        return isinstance(value, str) and str(wanted["contains"]).casefold() in value.casefold()
    return type(wanted) is type(value) and bool(wanted == value)
