"""Which column of a table means what: guessed from its name, said aloud, and overridden by the caller.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from proctor.codec.models import nearest
from proctor.errors import InputError, Place

__all__ = ["NO_COLUMN", "ROLES", "Columns", "guess_columns"]

NO_COLUMN: Final = "none"

ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "case": (
        "case_id", "case", "task_id", "task", "ticket", "ticket_id", "question_id", "question", "sample_id", "sample",
        "example_id", "example", "item_id", "item", "instance_id", "problem_id", "problem", "test_id", "test_case",
        "test", "prompt_id", "scenario", "id", "name", "key",
    ),
    "run": ("run", "trial", "attempt", "epoch", "repeat", "repetition", "replicate", "rep", "iteration", "seed"),
    "passed": (
        "passed", "pass", "is_passed", "success", "successful", "succeeded", "correct", "is_correct", "resolved",
        "solved", "ok", "pass_fail", "result", "verdict",
    ),
    "score": ("score", "reward", "accuracy", "grade", "value", "mark", "points"),
    "group": ("group", "cluster", "group_id", "cluster_id", "family", "template"),
    "slice": ("slice", "category", "segment", "topic", "tag", "kind", "type", "difficulty"),
    "status": ("status", "outcome", "state", "end", "ended"),
    "tokens": ("tokens", "total_tokens", "n_tokens", "token_count"),
    "cost": ("cost_usd", "cost", "usd", "price", "total_cost"),
}  # fmt: skip


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The column for each role; None where there is none. One of ``passed``, ``score`` and ``status`` is
    needed.
    """

    case: str | None = None
    run: str | None = None
    passed: str | None = None
    score: str | None = None
    group: str | None = None
    slice: str | None = None
    status: str | None = None
    tokens: str | None = None
    cost: str | None = None

    def described(self) -> str:
        """``case=ticket passed=ok``: the columns that are used, in the order of the roles."""
        pairs = ((role, getattr(self, role)) for role in ROLES)
        return " ".join(f"{role}={name}" for role, name in pairs if name is not None)


def guess_columns(names: Sequence[str], file: str, chosen: Columns, *, needs_outcome: bool = True) -> Columns:
    """The caller's choices, and a guess for each other role. Raises ``InputError`` where a needed one is
    missing.

    A guess needs the name to be a known one, but for case, blanks and punctuation. Columns are guessed once
    each.
    """
    found: dict[str, str | None] = {}
    taken = {getattr(chosen, role) for role in ROLES}
    for role, known in ROLES.items():
        name = getattr(chosen, role)
        if name is None:
            name = _guess(known, [n for n in names if n not in taken and n not in found.values()])
        elif name == NO_COLUMN and name not in names and role != "case":
            name = None
        elif name not in names:
            near = nearest(name, names)
            raise InputError(
                f"no column {name!r}",
                place=Place(file),
                expected=f"one of {', '.join(names[:20])}",
                fix=f"did you mean {near!r}?" if near else f"give another column with --{role}",
            )
        found[role] = name
    if found["case"] is None:
        _missing(file, names, "case", "--case COLUMN")
    if chosen.score is not None and chosen.passed is None:
        found["passed"] = None
    elif found["passed"] is not None:
        found["score"] = chosen.score
    if needs_outcome and found["passed"] is None and found["score"] is None and found["status"] is None:
        _missing(file, names, "outcome", "--passed COLUMN or --score COLUMN")
    return Columns(**found)


def _guess(known: Sequence[str], names: Sequence[str]) -> str | None:
    plain = {_plain(name): name for name in reversed(names)}
    return next((plain[_plain(word)] for word in known if _plain(word) in plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _missing(file: str, names: Sequence[str], what: str, option: str) -> None:
    listed = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    raise InputError(
        f"no column looks like the {what}",
        place=Place(file),
        expected="a column that is named or known by its usual name",
        found=listed or "no column",
        fix=f"name it with {option}",
    )
