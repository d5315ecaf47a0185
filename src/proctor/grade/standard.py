"""The graders that every suite may name: ``state``, ``unchanged``, ``answer``, ``contract``, ``budget``.

Each is a pure function of the evidence (and of what ``suite.toml`` says), separate from the others, and names the rows
or steps that its finding rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.grade.model import Evidence, Finding, Grade
from proctor.suite.model import Budget, Contract
from proctor.worlds.state import diff_states

__all__ = ["STANDARD_GRADERS", "grade_answer", "grade_budget", "grade_contract", "grade_state", "grade_unchanged"]

_MOST_FINDINGS = 200


def grade_state(evidence: Evidence) -> Grade:
    """``expect`` means exactly these rows, over the columns that each of them names."""
    findings: list[Finding] = []
    for table, expected in sorted((evidence.expect or {}).items()):
        rows = evidence.after.tables.get(table, ())
        missing, extra = _match(expected, rows)
        findings.extend(
            Finding(code="missing_row", detail=f"no such row in {table}", field=table, expected=row, found=None)
            for row in missing
        )
        findings.extend(
            Finding(code="unexpected_row", detail=f"nothing expects this row in {table}", field=table, found=row)
            for row in extra
        )
    return Grade(grader="state", findings=tuple(findings[:_MOST_FINDINGS]))


def _match(
    expected: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Pair expected rows with rows, those that name most columns first; what is left over on either side."""
    left = list(rows)
    missing = []
    for want in sorted(expected, key=len, reverse=True):
        position = next((i for i, row in enumerate(left) if _fits(want, row)), None)
        if position is None:
            missing.append(want)
        else:
            left.pop(position)
    return missing, left


def _fits(want: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    return all(name in row and _equal(value, row[name]) for name, value in want.items())


def _equal(left: Any, right: Any) -> bool:
    """SQLite has no booleans: true is 1. Otherwise types must agree, so that "1" is not 1."""
    if isinstance(left, bool):
        return right is left or (type(right) is int and right == int(left))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)) and not isinstance(right, bool):
        return left == right
    return type(left) is type(right) and bool(left == right)


def grade_unchanged(evidence: Evidence) -> Grade:
    """Tables that ``expect`` does not name must be as they were after the reset."""
    named = set(evidence.expect or {})
    findings = tuple(
        Finding(
            code="unexpected_change",
            detail=f"{change.table} was not to change",
            field=change.table,
            expected=change.before,
            found=change.after,
        )
        for change in diff_states(evidence.before, evidence.after)
        if change.table not in named
    )
    return Grade(grader="unchanged", findings=findings[:_MOST_FINDINGS])


def grade_answer(evidence: Evidence) -> Grade:
    """Every field of the case's ``answer`` is in the agent's answer, equal."""
    answer = evidence.answer if isinstance(evidence.answer, Mapping) else {}
    findings = tuple(
        Finding(
            code="wrong_answer",
            detail=f"answer.{name} differs",
            steps=(evidence.last_step,) if evidence.last_step else (),
            field=name,
            expected=want,
            found=answer.get(name),
        )
        for name, want in (evidence.expected_answer or {}).items()
        if name not in answer or not _equal(want, answer[name])
    )
    return Grade(grader="answer", findings=findings)


def grade_contract(evidence: Evidence, contract: Contract) -> Grade:
    """What the contract forbids was not even tried; refused calls count."""
    findings = []
    for step in evidence.calls():
        if step.decision == "forbidden":
            findings.append(
                Finding(
                    code="forbidden_action",
                    detail=f"{step.action} is forbidden",
                    steps=(step.step,),
                    cycle=step.cycle,
                    found=step.args,
                )
            )
        elif step.decision == "over_limit":
            findings.append(
                Finding(
                    code="over_call_limit",
                    detail=f"{step.action} was called too often",
                    steps=(step.step,),
                    cycle=step.cycle,
                    expected=contract.max_calls.get(step.action),
                    found=sum(call.step <= step.step for call in evidence.calls(step.action)),
                )
            )
    return Grade(grader="contract", findings=tuple(findings[:_MOST_FINDINGS]))


def grade_budget(evidence: Evidence, budget: Budget, *, usage_required: bool = False) -> Grade:
    """No figure is over its limit; equal passes. An unknown figure fails only where usage is required."""
    usage = evidence.usage or {}
    findings = []
    for name in ("tokens", "seconds", "calls", "usd"):
        limit = getattr(budget, name)
        if limit is None:
            continue
        spent = usage.get(name)
        if spent is None:
            if usage_required:
                findings.append(
                    Finding(code="budget_unknown", detail=f"{name}: unknown", field=name, expected=limit, found=None)
                )
        elif spent > limit:
            findings.append(
                Finding(code="budget", detail=f"{name}: over budget", field=name, expected=limit, found=spent)
            )
    return Grade(grader="budget", findings=tuple(findings))


STANDARD_GRADERS: Mapping[str, Callable[..., Grade]] = {
    "answer": grade_answer,
    "budget": grade_budget,
    "contract": grade_contract,
    "state": grade_state,
    "unchanged": grade_unchanged,
}
