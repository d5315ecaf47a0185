"""Delivered answer keys against the registry, the world and the start state: what would make a key unfair or empty is
found before any agent runs.

Only for suites whose graders read such keys. Left out: sealed keys, which nobody but the graders opens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.codec.models import nearest
from proctor.errors import Place, SuiteError
from proctor.grade.casefile import state_of
from proctor.grade.key_graders import KEY_GRADERS
from proctor.grade.keys import AllowedChange, Key, read_key
from proctor.grade.outcome import grade_links, grade_outcome
from proctor.grade.registry import REASONS
from proctor.suite.layout import Layout
from proctor.suite.model import Case
from proctor.worlds.probe import OperationFacts, WorldProbe

__all__ = ["check_keys"]

_FIX = "change the key, or the case that it is for"


def check_keys(draft: Draft, probe: WorldProbe, mistakes: Mistakes) -> None:
    """Every case's key, where a grader of the suite reads it."""
    if not set(draft.spec.graders) & set(KEY_GRADERS):
        return
    tools = {tool.name: tool for tool in probe.facts.tools}
    for case, place in draft.cases:
        if isinstance(case.key, Mapping) and set(case.key) == {"sealed"}:
            continue
        try:
            key = read_key(case.key if case.key is not None else {})
        except SuiteError as error:
            where = error.place.field if error.place and error.place.field else "key"
            mistakes.take(
                SuiteError(error.problem, expected=error.expected, code=error.code, fix=error.fix), _at(place, where)
            )
            continue
        _KeyCheck(draft, case, key, place, columns=probe.facts.columns, tools=tools, mistakes=mistakes).all()


def _at(place: Place, path: str) -> Place:
    return Place(place.file, place.line, path)


class _KeyCheck:
    """One key under examination."""

    def __init__(
        self,
        draft: Draft,
        case: Case,
        key: Key,
        place: Place,
        *,
        columns: Mapping[str, Sequence[str]],
        tools: Mapping[str, OperationFacts],
        mistakes: Mistakes,
    ) -> None:
        self._draft, self._case, self._key, self._place = draft, case, key, place
        self._columns, self._tools, self._mistakes = columns, tools, mistakes
        self._layout = key.layout or draft.spec.layout or Layout(table="cases")

    def all(self) -> None:
        """Everything that can be known of it."""
        self._codes()
        self._outcome()
        self._checks()
        self._changes()
        if self._subject():
            self._targets()
            self._start()

    def _add(self, problem: str, path: str, code: str, *, expected: str | None = None, found: object = None) -> None:
        self._mistakes.add(
            problem, _at(self._place, f"key.{path}"), code=code, expected=expected, found=found, fix=_FIX
        )

    def _unknown(self, what: str, name: str, known: Sequence[str], path: str, code: str) -> None:
        guess = nearest(name, known)
        listed = ", ".join(sorted(known)[:12])
        fix = f"did you mean {guess!r}?" if guess else _FIX
        place = _at(self._place, f"key.{path}")
        self._mistakes.add(
            f"there is no {what} {name!r}", place, code=code, expected=f"one of {listed}", found=name, fix=fix
        )

    def _codes(self) -> None:
        for number, code in enumerate(self._key.reason_codes):
            if code not in REASONS:
                self._unknown("reason code", code, list(REASONS), f"reason_codes[{number}]", "unknown_code")

    def _outcome(self) -> None:
        key, layout = self._key, self._layout
        status, items = key.status, () if key.outstanding is UNSET else tuple(key.outstanding or ())
        if isinstance(status, str) and status not in layout.statuses:
            self._unknown("status", status, layout.statuses, "status", "unknown_status")
        if status == layout.complete_status and items:
            problem = f"a case that is {status} can't have outstanding items"
            self._add(problem, "outstanding", "impossible_outcome", expected="no item", found=list(items))
        if status == layout.incomplete_status and not items and key.outstanding is not UNSET:
            problem = f"a case that is {status} must lack something"
            self._add(problem, "outstanding", "impossible_outcome", expected="at least one item", found=[])
        for number, link in enumerate(() if key.links is UNSET else key.links or ()):
            if link.kind not in layout.link_kinds:
                self._unknown("kind of link", link.kind, layout.link_kinds, f"links[{number}].kind", "unknown_kind")
            if link.target == key.case_id:
                problem = "a case can't be linked to itself"
                self._add(problem, f"links[{number}]", "impossible_outcome", expected="another case", found=link.target)

    def _checks(self) -> None:
        forbidden = {*self._draft.spec.contract.forbid, *self._key.forbidden_actions}
        for number, name in enumerate(self._key.forbidden_actions):
            if name not in self._tools:
                self._unknown("tool", name, list(self._tools), f"forbidden_actions[{number}]", "unknown_tool")
        checks = self._key.expected_checks
        for number, check in enumerate(() if checks is UNSET else checks or ()):
            path = f"expected_checks[{number}]"
            if check.action not in self._tools:
                self._unknown("tool", check.action, list(self._tools), f"{path}.action", "unknown_tool")
                continue
            if check.action in forbidden:
                self._add("a check that is forbidden", f"{path}.action", "impossible_check", found=check.action)
            for name in check.args_match:
                parameters = self._tools[check.action].parameters
                if name not in parameters:
                    what = f"argument of {check.action}"
                    self._unknown(what, name, parameters, f"{path}.args_match.{name}", "unknown_argument")

    def _changes(self) -> None:
        allowed = self._key.allowed_changes
        for number, entry in enumerate(() if allowed is UNSET else allowed or ()):
            path = f"allowed_changes[{number}]"
            table, _, column = (entry.table, "", "") if isinstance(entry, AllowedChange) else entry.partition(".")
            if table not in self._columns:
                self._unknown("table", table, list(self._columns), path, "unknown_table")
                continue
            named = [column] if column else []
            if isinstance(entry, AllowedChange):
                named = [*entry.where, *(entry.columns or ())]
            for name in named:
                if name not in self._columns[table]:
                    self._unknown(f"column in {table}", name, self._columns[table], path, "unknown_column")

    def _subject(self) -> bool:
        """Whether the key's case is among the rows that the case starts with."""
        layout, case_id = self._layout, self._key.case_id if self._key.case_id is not UNSET else self._case.id
        if layout.table not in self._columns:
            place = self._draft.place("layout.table")
            self._mistakes.unknown("table", layout.table, list(self._columns), place, code="unknown_table")
            return False
        known = self._names(layout.table, layout.id)
        if known and case_id not in known:
            self._unknown("case", str(case_id), known, "case_id", "key_contradicts_world")
            return False
        return bool(known)

    def _names(self, table: str, column: str) -> list[str]:
        return [str(row[column]) for row in self._case.setup.get(table, ()) if column in row]

    def _targets(self) -> None:
        layout, key = self._layout, self._key
        cases = self._names(layout.table, layout.id)
        for number, link in enumerate(() if key.links is UNSET else key.links or ()):
            if link.target not in cases:
                self._unknown("case", link.target, cases, f"links[{number}].target", "key_contradicts_world")
        queues = self._names(layout.queues.table, layout.queues.column) if layout.queues else []
        if queues and isinstance(key.queue, str) and key.queue not in queues:
            self._unknown("queue", key.queue, queues, "queue", "key_contradicts_world")

    def _start(self) -> None:
        """A key that the start state satisfies is empty, unless it says that nothing is to be done."""
        key = self._key
        if UNSET in (key.status, key.queue, key.outstanding, key.links):
            return
        named = key if key.case_id is not UNSET else read_key({**self._case.key, "case_id": self._case.id})
        try:
            state = state_of(dict(self._case.setup))
            found = [
                *grade_outcome(state, named, self._layout).findings,
                *grade_links(state, named, self._layout).findings,
            ]
        except SuiteError as error:
            self._mistakes.take(error, _at(self._place, "key"))
            return
        if not found and not key.do_nothing:
            problem = "the start state already satisfies the key"
            self._add(problem, "status", "key_satisfied", expected='another end, or "do_nothing": true')
        if found and key.do_nothing:
            problem = "the key says that nothing is to be done, but the start state doesn't satisfy it"
            self._add(problem, "do_nothing", "key_contradicts_world", expected=found[0].expected, found=found[0].found)
