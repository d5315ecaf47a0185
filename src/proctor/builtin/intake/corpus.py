"""Seeded cases: the truth of each comes first, and both the desk's rows and the key are written from it.

A family is a situation and a type of case together. Of each situation's types every third is held out, another third
from situation to situation: no development case has it. Same seed, same cases.
"""

import random

from keys import key_of
from matter import DATED, REQUIRED, SENIOR, SIGNED
from truth import Truth, tell

_SIGNING = tuple(kind for kind, documents in REQUIRED.items() if SIGNED & set(documents))
SITUATIONS = {
    "all_there": tuple(REQUIRED),
    "document_missing": tuple(REQUIRED),
    "not_signed": _SIGNING,
    "name_variant": tuple(REQUIRED),
    "duplicate": tuple(REQUIRED),
    "namesake": tuple(REQUIRED),
    "prior_cases": tuple(REQUIRED),
    "injected": tuple(REQUIRED),
    "too_late": DATED,
    "high_amount": SENIOR,
    "taken_in": tuple(REQUIRED),
    "nobody_identified": tuple(REQUIRED),
    "check_by_type": ("inheritance", "fraud_report"),
    "call_fails": tuple(REQUIRED),
    "all_documents_missing": tuple(REQUIRED),
}
N_CASES = 60


def families(*, held_out: bool) -> list[tuple[str, str]]:
    """``(situation, type)`` of one of the two splits, in a fixed order."""
    return [
        (situation, kind)
        for position, (situation, kinds) in enumerate(SITUATIONS.items())
        for number, kind in enumerate(kinds, position)
        if (number % 3 == 1) is held_out
    ]


def make(seed: int, n: int, *, held_out: bool) -> list[dict]:
    """``n`` cases, the situations in turn, each with the next of its types."""
    by_situation: dict[str, list[str]] = {}
    for situation, kind in families(held_out=held_out):
        by_situation.setdefault(situation, []).append(kind)
    split, cases = "held-out" if held_out else "development", []
    for number in range(n):
        turn, position = divmod(number, len(by_situation))
        situation, kinds = list(by_situation.items())[position]
        kind = kinds[(turn + position + seed - 1) % len(kinds)]
        dice = random.Random(f"intake {split} {seed} {number}")
        cases.append(case_of(tell(dice, situation, kind), f"{'H' if held_out else 'D'}{number + 1:03}"))
    return cases


def cases(seed: int) -> list[dict]:
    """The development split; its sixty cases with seed 1 are the published ones."""
    return make(seed, N_CASES, held_out=False)


def held_out(seed: int) -> list[dict]:
    """As many cases of the held-out families, with their keys."""
    return make(seed, N_CASES, held_out=True)


def generated(seed: int) -> list[dict]:
    """Two hundred further ones of both splits."""
    return make(seed, 100, held_out=False) + make(seed, 100, held_out=True)


def case_of(truth: Truth, name: str) -> dict:
    """One case as the harness takes it."""
    fault = {"cycle": 1, "tool": "get_document", "nth": 1, "phase": "before", "kind": "temporary"}
    return {
        "id": name,
        "slice": truth.situation,
        "group": f"{truth.situation}.{truth.case['type']}",
        "input": {"case_id": truth.case["id"]},
        "setup": truth.tables(),
        "faults": [fault] if truth.situation == "call_fails" else [],
        "key": key_of(truth),
    }
