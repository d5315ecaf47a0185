"""``grade_note``: every claim of a handover note against the record. Pure, usable alone, by rule.

Codes: ``contradicted_claim`` (the record says otherwise), ``unsupported_claim`` (the record doesn't hold it),
``omitted_item`` (a required fact isn't mentioned), ``empty_note``. What no rule reads (tone, advice, open text) is
left to people or a model; it never fails here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import Place
from proctor.grade.keys import NoteFact, NoteRecord
from proctor.grade.model import Finding, Grade
from proctor.grade.note_claims import Claim, Note, Words, read_note
from proctor.grade.note_record import read_record
from proctor.grade.note_words import fold

__all__ = ["grade_note"]

_LONGEST = 20_000
_REACH = 48
_NEGATED = re.compile(r"(?:\b(?:not|no|never|neither|nor|than)|n't)\s+(?:\w+\s+){0,3}$")


def grade_note(note: str | None, record: NoteRecord | Mapping[str, Any]) -> Grade:
    """Grade a note. ``record`` is a ``NoteRecord``, the same as plain values (with ``facts``), or simply the record's
    fields by name (see ``grade.note_record``). Raises ``SuiteError`` for a record that can't be read."""
    held = read_record(record, Place(None, None, "record"))
    text = note or ""
    if not re.search(r"\w", text):
        return Grade(grader="note", findings=(Finding(code="empty_note", detail="the note is blank", field="note"),))
    if len(text) > _LONGEST:
        detail = f"{len(text):,} characters: too long to be read"
        finding = Finding(code="unsupported_claim", detail=detail, field="note", expected=f"at most {_LONGEST:,}")
        return Grade(grader="note", findings=(finding,))
    read = read_note(text, _words(held))
    findings = [finding for claim in read.claims for finding in _judge(claim, read, held)]
    findings += _omitted(read, held)
    return Grade(grader="note", findings=tuple(findings))


def _words(record: NoteRecord) -> Words:
    items: dict[str, tuple[str, ...]] = {item: (item,) for item in record.vocabulary.get("item", ())}
    names, other = [], {fold(w) for word in record.vocabulary.get("words", ()) for w in re.findall(r"\w+", word)}
    for fact in record.facts:
        if fact.kind == "item":
            items[fact.value] = tuple(dict.fromkeys((*items.get(fact.value, ()), fact.value, *fact.also)))
        elif fact.kind == "name":
            names += [_tokens(name) for name in (fact.value, *fact.also)]
    for fields in record.labels.values():
        other |= {fold(w) for labels in fields.values() for label in labels for w in re.findall(r"\w+", label)}
    other |= {fold(w) for spellings in items.values() for s in spellings for w in re.findall(r"[^\W_]+", s)}
    statuses = {*record.vocabulary.get("status", ()), *(f.value for f in record.facts if f.kind == "status")}
    return Words(statuses=tuple(sorted(statuses)), items=items, names=tuple(names), other=frozenset(other))


def _tokens(name: str) -> tuple[str, ...]:
    return tuple(fold(token.strip(".")) for token in re.split(r"[\s,]+", name) if token.strip(".,"))


def _judge(claim: Claim, note: Note, record: NoteRecord) -> Iterator[Finding]:
    facts = [fact for fact in record.facts if fact.kind == claim.kind]
    if claim.kind == "item":
        yield from _item(claim, facts)
        return
    same = [fact for fact in facts if _says(claim, fact)]
    if claim.kind == "status":
        if not same:
            yield _finding("contradicted_claim" if facts else "unsupported_claim", claim, facts[0] if facts else None)
        return
    field, negated = _label(claim, note, record)
    labelled = [fact for fact in facts if fact.field == field]
    if field is not None and negated:
        if any(fact in labelled for fact in same):
            yield _finding("contradicted_claim", claim, labelled[0], field)
            return
    elif field is not None and labelled and not any(fact in labelled for fact in same):
        yield _finding("contradicted_claim", claim, labelled[0], field)
        return
    elif field is not None and not labelled:
        yield _finding("unsupported_claim", claim, None, field)
        return
    if not same:
        meant = _nearest(claim, facts)
        yield _finding("contradicted_claim" if meant else "unsupported_claim", claim, meant)


def _item(claim: Claim, facts: Sequence[NoteFact]) -> Iterator[Finding]:
    same = [fact for fact in facts if fact.value in claim.values]
    if claim.state is None:
        return
    if not same:
        yield _finding("unsupported_claim", claim, None, claim.values[0], state=claim.state)
    elif all(fact.state is not None and fact.state != claim.state for fact in same):
        yield _finding("contradicted_claim", claim, same[0], state=claim.state)


def _finding(code: str, claim: Claim, fact: NoteFact | None, field: str | None = None, state: str = "") -> Finding:
    expected = None if fact is None else f"{fact.value}: {fact.state}" if state else fact.value
    found = f"{claim.values[0]}: {state}" if state else claim.text
    return Finding(
        code=code,
        detail=f"the note says {claim.text!r}" + (f" is {state}" if state else ""),
        field=field or (fact.field if fact else claim.kind),
        expected=expected,
        found=found,
    )


def _label(claim: Claim, note: Note, record: NoteRecord) -> tuple[str | None, bool]:
    """The field that the words at a claim say it is, and whether they say that it is not."""
    start, end = note.sentence(claim)
    same_kind = [other for other in note.claims if other.kind == claim.kind]
    start = max([start, claim.start - _REACH, *(c.end for c in same_kind if c.end <= claim.start)])
    end = min([end, claim.end + _REACH, *(c.start for c in same_kind if c.start >= claim.end)])
    before, after = note.folded[start : claim.start], note.folded[claim.end : end]
    best: tuple[int, int, str] | None = None
    for field, labels in record.labels.get(claim.kind, {}).items():  # type: ignore[call-overload]
        for label in labels:
            word = r"\s+".join(map(re.escape, fold(label).split()))
            follows = re.match(rf"\s*(?:\(|,?\s*(?:is|as|was|being)\b)\s*(?:the\s+|an?\s+)?{word}(?!\w)", after)
            if follows:
                negated = bool(re.match(r"\s*(?:is|was)\s+not\b", after))
                return field, negated
            for match in re.finditer(rf"(?<!\w){word}(?!\w)", before):
                if best is None or (match.end(), match.end() - match.start()) > best[:2]:
                    best = (match.end(), match.end() - match.start(), field)
    if best is None:
        return None, False
    return best[2], bool(_NEGATED.search(before[: best[0] - best[1]]))


def _says(claim: Claim, fact: NoteFact) -> bool:
    """Whether a claim is this fact, in any of its readings and spellings."""
    spellings = (fact.value, *fact.also)
    if claim.kind == "name":
        return any(sorted(v.split()) in (sorted(_tokens(s)),) or _short(v, s) for v in claim.values for s in spellings)
    if claim.kind == "date":
        return any(v == s or (v[:4] == "????" and v[4:] == s[4:]) for v in claim.values for s in spellings)
    if claim.kind == "amount":
        return any(v == s or (v.endswith("?") and v[:-1] == s[:-3]) for v in claim.values for s in spellings)
    return any(v == s for v in claim.values for s in spellings)


def _short(value: str, spelling: str) -> bool:
    """A family name alone (after a title)."""
    return len(value.split()) == 1 and value in _tokens(spelling)


def _nearest(claim: Claim, facts: Sequence[NoteFact]) -> NoteFact | None:
    """The fact that a wrong value was probably meant to be: the only one of its kind, or one that differs little."""
    if len({fact.field for fact in facts}) == 1 and claim.kind != "id":
        return facts[0]
    for fact in facts:
        if any(_close(claim.kind, value, fact.value) for value in claim.values):
            return fact
    return None


def _close(kind: str, value: str, fact: str) -> bool:
    if kind == "name":
        return bool(set(value.split()) & set(_tokens(fact)))
    if kind == "date":
        return sum(a == b for a, b in zip(value.split("-"), fact.split("-"), strict=False)) == 2
    if kind == "amount" and value[:-3] == fact[:-3]:
        return True
    differing = sum(a != b for a, b in zip(value, fact, strict=False))
    return len(value) == len(fact) and (differing == 1 or (differing == 2 and sorted(value) == sorted(fact)))


def _omitted(note: Note, record: NoteRecord) -> Iterator[Finding]:
    for fact in record.facts:
        if not fact.required:
            continue
        said = any(claim.kind == fact.kind and _mentions(claim, fact) for claim in note.claims)
        if not said and fact.kind == "status":
            said = fold(fact.value).replace("_", " ") in note.folded.replace("_", " ")
        if not said:
            yield Finding(
                code="omitted_item",
                detail=f"{fact.field} isn't mentioned",
                field=fact.field,
                expected=fact.value,
                found=None,
            )


def _mentions(claim: Claim, fact: NoteFact) -> bool:
    return fact.value in claim.values if fact.kind == "item" else _says(claim, fact)
