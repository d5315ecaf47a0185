"""What a note claims, by rule: dates, amounts, ids, statuses, items and names, each with its place in the text.

Dates and amounts are read in the ways that several countries write them; a numeric date that can be read two ways
keeps both readings. English words alone say that an item is there or isn't. Open text claims nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from proctor.grade.note_words import COMMON, CURRENCIES, HERE, MONTHS, NOT_HERE, PARTICLES, TITLES, fold

__all__ = ["Claim", "Note", "Words", "claims_of", "parse_amount", "read_note"]

_MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
_YEAR = r"(?:,?[\s-]+(?:de\s+|del\s+)?(\d{4}))?"
_DATES: tuple[tuple[str, str], ...] = (
    (r"(?<![\d\w-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", "ymd"),
    (r"(\d{4})年(\d{1,2})月(\d{1,2})日", "ymd"),
    (r"(?<![\d\w.,-])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})(?!\d)", "dmy"),
    (r"(?<![\d\w.,-])(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})(?!\d)", "either"),
    (rf"(?<![\d\w])(\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?[\s-]+(?:of\s+|de\s+)?({_MONTH})\b\.?{_YEAR}", "dMy"),
    (rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(\d{{4}}))?(?![\d\w])", "Mdy"),
)  # fmt: skip
_NUMBER = r"\d{1,3}(?:[ .,'’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_MONEY = "|".join(sorted(map(re.escape, CURRENCIES), key=len, reverse=True))
_AMOUNTS = (
    rf"(?<![\w])(?P<before>{_MONEY})\s?(?P<n1>{_NUMBER})(?![\d])",
    rf"(?<![\w.,-])(?P<n2>{_NUMBER})\s?(?P<after>{_MONEY})(?![\w])",
    r"(?<![\w.,-])(?P<n3>\d{1,3}(?:[ .,'’]\d{3})*[.,]\d{2}|\d+[.,]\d{2})(?![\w]|[.,]\d)",
)
_ID = re.compile(r"(?<![\w-])[A-Z]{1,6}-?\d[\dA-Z]+(?:-[\dA-Z]+)*(?![\w])|(?<![\w-])[A-Z]{1,6}-\d(?![\w-])")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*\.?")
_END = re.compile(r"[.;!?](?=\s|$)|\n|\b(?:but|while|whereas|however)\b")
_OUT = rf"(?:(?:not|n't|never)\s+(?:yet\s+|been\s+|be\s+|sent\s+)*(?:{'|'.join(HERE)})\b|\b(?:{'|'.join(NOT_HERE)})\b)"
_IN = rf"(?:(?:not|nothing|no longer)\s+(?:{'|'.join(NOT_HERE)})\b|\b(?:{'|'.join(HERE)})\b)"
_POLARITY = re.compile(
    rf"(?P<in1>\b(?:not|nothing|no longer)\s+(?:{'|'.join(NOT_HERE)})\b)|(?P<out>{_OUT})|(?P<in2>{_IN})"
)
_NONE = re.compile(r"\b(?:no|without)\s+(?:\w+\s+)?\Z")
_VERB = re.compile(
    r"\s*(?:[(:–—-]|is|are|was|were|has|have|had|remains?|isn't|aren't|hasn't|haven't|came|arrived|still)(?!\w)"
)
_NUMBERED_STATUS = r"(?:[A-Z]{1,6}-?\d[\w-]*)"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A value that a note states. ``values`` are its readings; ``state`` of an item: present, outstanding or None."""

    kind: str
    text: str
    values: tuple[str, ...]
    start: int
    end: int
    state: str | None = None


@dataclass(frozen=True, kw_only=True)
class Words:
    """What exists: statuses, items (each with its spellings), names that are known, and words that are no names."""

    statuses: tuple[str, ...] = ()
    items: dict[str, tuple[str, ...]] | None = None
    names: tuple[tuple[str, ...], ...] = ()
    other: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note, its folded text (equally long) and its claims in order."""

    text: str
    folded: str
    claims: tuple[Claim, ...]

    def sentence(self, claim: Claim) -> tuple[int, int]:
        """Start and end of the sentence, or part of one, that a claim stands in."""
        inside = [(c.start, c.end) for c in self.claims]
        ends = [m for m in _END.finditer(self.folded) if not any(a < m.start() < b for a, b in inside)]
        start = max((m.end() for m in ends if m.end() <= claim.start), default=0)
        return start, min((m.start() for m in ends if m.start() >= claim.end), default=len(self.text))


def read_note(text: str, words: Words) -> Note:
    """A note with everything that it claims."""
    text = re.sub(r"[\u00a0\u202f\u2009]", " ", text)
    folded = fold(text)
    claims = claims_of(text, folded, words)
    note = Note(text=text, folded=folded, claims=tuple(claims))
    items = [_with_state(note, c) if c.kind == "item" else c for c in claims]
    return Note(text=text, folded=folded, claims=tuple(items))


def claims_of(text: str, folded: str, words: Words) -> list[Claim]:
    """All claims in the order of the text; what one kind has taken is not read as another."""
    taken: list[Claim] = []
    finders: tuple[Callable[[str, str, Words], Iterable[Claim]], ...] = (
        _dates,
        _amounts,
        _ids,
        _items,
        _statuses,
        _names,
    )
    for find in finders:
        blank_text, blank_folded = _without(text, taken), _without(folded, taken)
        taken += [c for c in find(blank_text, blank_folded, words) if not _overlaps(c, taken)]
    return sorted(taken, key=lambda claim: claim.start)


def _without(text: str, taken: list[Claim]) -> str:
    for claim in taken:
        text = text[: claim.start] + "\x00" * (claim.end - claim.start) + text[claim.end :]
    return text


def _overlaps(claim: Claim, taken: list[Claim]) -> bool:
    return any(claim.start < other.end and other.start < claim.end for other in taken)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _dates(text: str, folded: str, words: Words) -> Iterator[Claim]:
    found: list[Claim] = []
    for pattern, order in _DATES:
        for match in _compiled(pattern).finditer(folded):
            values = tuple(dict.fromkeys(_readings(order, *match.groups())))
            start, end = match.span()
            claim = Claim(kind="date", text=text[start:end].rstrip(" ,"), values=values, start=start, end=end)
            if values and not _overlaps(claim, found):
                found.append(claim)
    yield from found


def _readings(order: str, one: str, two: str, three: str | None) -> Iterator[str]:
    if order in ("dMy", "Mdy"):
        day, month = (one, two) if order == "dMy" else (two, one)
        yield _day(three, MONTHS[month], int(day))
    elif order == "ymd":
        yield _day(one, int(two), int(three or 0))
    else:
        year = three if three is None or len(three) == 4 else f"20{three}"
        yield _day(year, int(two), int(one))
        if order == "either" and int(one) <= 12:
            yield _day(year, int(one), int(two))


def _day(year: str | None, month: int, day: int) -> str:
    return f"{year or '????'}-{month:02}-{day:02}"


def _amounts(text: str, folded: str, words: Words) -> Iterator[Claim]:
    found: list[Claim] = []
    for pattern in _AMOUNTS:
        for match in _compiled(pattern).finditer(folded):
            groups = match.groupdict()
            number = groups.get("n1") or groups.get("n2") or groups.get("n3") or ""
            currency = CURRENCIES.get(groups.get("before") or groups.get("after") or "", "?")
            start, end = match.span()
            value = f"{parse_amount(number):.2f} {currency}"
            claim = Claim(kind="amount", text=text[start:end].strip(), values=(value,), start=start, end=end)
            if not _overlaps(claim, found):
                found.append(claim)
    yield from found


def parse_amount(number: str) -> Decimal:
    """``1.250,00``, ``1,250.00``, ``1 250``, ``1'250.5`` → a decimal. Three digits after a lone mark are thousands."""
    digits = re.sub(r"[ '’]", "", number)
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0 and len(digits) - last - 1 <= 2:
        return Decimal(re.sub(r"[.,]", "", digits[:last]) + "." + digits[last + 1 :])
    return Decimal(re.sub(r"[.,]", "", digits))


def _ids(text: str, folded: str, words: Words) -> Iterator[Claim]:
    for match in _ID.finditer(text):
        yield Claim(kind="id", text=match[0], values=(match[0],), start=match.start(), end=match.end())


def _items(text: str, folded: str, words: Words) -> Iterator[Claim]:
    spellings = [(fold(s).replace("_", " "), item) for item, many in (words.items or {}).items() for s in many]
    found: list[Claim] = []
    for spelling, item in sorted(spellings, key=lambda pair: -len(pair[0])):
        pattern = r"(?<!\w)" + r"[\s_-]".join(map(re.escape, spelling.split())) + r"(?:e?s)?(?!\w)"
        for match in _compiled(pattern).finditer(folded):
            start, end = match.span()
            claim = Claim(kind="item", text=text[start:end], values=(item,), start=start, end=end)
            if not _overlaps(claim, found):
                found.append(claim)
    yield from found


def _with_state(note: Note, claim: Claim) -> Claim:
    """An item with what the words around it say: first what follows it ("… is missing"), then what leads to it."""
    start, end = note.sentence(claim)
    folded = _without(note.folded, list(note.claims))
    after = folded[claim.end : end].replace("\x00", " ")
    rest = re.sub(r"^(?:\s|,|\(\s*\)|\b(?:and|or|the|a|an|both|of|dated)\b)+", "", after)
    near = re.split(r"[,)]", rest, maxsplit=1)[0]
    led = _VERB.match(near) or after.lstrip().startswith("(")
    predicate = _POLARITY.search(near) if led else _POLARITY.match(near.lstrip())
    before = list(_POLARITY.finditer(folded, start, claim.start))
    match = predicate or (before[-1] if before else _POLARITY.search(near))
    state = None if match is None else "outstanding" if match["out"] else "present"
    state = "outstanding" if _NONE.search(folded, start, claim.start) else state
    return Claim(kind="item", text=claim.text, values=claim.values, start=claim.start, end=claim.end, state=state)


_SUBJECT = (
    r"(?<!prior )(?<!earlier )(?<!previous )(?<!other )\b(?:case|file|request|claim|it)\s+"
    rf"(?:{_NUMBERED_STATUS}\s+)?"
    r"(?:is|was|now|has been)\s+(?:now\s+|therefore\s+|marked\s+(?:as\s+)?|set\s+to\s+|still\s+)*"
)
_SET = (
    r"(?:\bstatus\s*(?:is|was|set|now|changed)?\s*(?:to\b)?\s*[:=\"'“`]?\s*|"
    r"\b(?:set|marked|changed)\s+(?:it\s+)?(?:to|as)\s+[\"'“`]?)"
)


def _statuses(text: str, folded: str, words: Words) -> Iterator[Claim]:
    for status in sorted(words.statuses, key=len, reverse=True):
        name = r"[\s_-]".join(map(re.escape, fold(status).replace("_", " ").split()))
        triggers = [_SET, _SUBJECT] if " " not in status.replace("_", " ") else [_SET, _SUBJECT, r"\b"]
        for trigger in triggers:
            for match in _compiled(rf"(?:{trigger})(?P<name>{name})(?!\w)").finditer(folded):
                start, end = match.span("name")
                yield Claim(kind="status", text=text[start:end], values=(status,), start=start, end=end)


def _names(text: str, folded: str, words: Words) -> Iterator[Claim]:
    known = {token for name in words.names for token in name}
    for run in _runs(text):
        tokens = [_token(match[0]) for match in run]
        spans = list(_known_runs(tokens, words.names))
        for first, last, name in spans:
            start, end = run[first].start(), run[last].end()
            yield Claim(kind="name", text=text[start:end], values=(" ".join(name),), start=start, end=end)
        if spans:
            continue
        titled = tokens[0] in TITLES
        common = COMMON | words.other
        kept = [m for m, t in zip(run, tokens, strict=True) if t not in TITLES and (t in known or t not in common)]
        if len([m for m in kept if fold(m[0]) not in PARTICLES]) >= (1 if titled else 2):
            start, end = kept[0].start(), kept[-1].end()
            value = " ".join(_token(m[0]) for m in kept)
            yield Claim(kind="name", text=text[start:end].rstrip("."), values=(value,), start=start, end=end)


def _token(word: str) -> str:
    return re.sub(r"['’]s$", "", fold(word.rstrip(".")))


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Words with a capital that follow each other, particles between them included."""
    run: list[re.Match[str]] = []
    for match in _WORD.finditer(text):
        joined = bool(run) and text[run[-1].end() : match.start()] in (" ", ", ") and not _ends(run[-1][0])
        capital = match[0][0].isupper()
        if not joined or not (capital or match[0] in PARTICLES):
            if run:
                yield _trimmed(run)
            run = [match] if capital else []
        else:
            run.append(match)
    if run:
        yield _trimmed(run)


def _ends(word: str) -> bool:
    """Whether a full stop ends the sentence here; not after an initial or a title."""
    return word.endswith(".") and len(word) > 2 and fold(word[:-1]) not in TITLES


def _trimmed(run: list[re.Match[str]]) -> list[re.Match[str]]:
    while len(run) > 1 and run[-1][0] in PARTICLES:
        run = run[:-1]
    return run


def _known_runs(tokens: list[str], names: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where a known name stands: in order, family name first, or with an initial."""
    at = 0
    ordered = sorted(names, key=len, reverse=True)
    while at < len(tokens):
        hit = next((n for n in ordered if _same_name(tokens[at : at + len(n)], n)), None)
        if hit is None:
            at += 1
            continue
        yield at, at + len(hit) - 1, hit
        at += len(hit)


def _same_name(tokens: list[str], name: tuple[str, ...]) -> bool:
    if len(tokens) != len(name):
        return False
    if sorted(tokens) == sorted(name):
        return True
    return len(name) > 1 and tokens[1:] == list(name[1:]) and len(tokens[0]) == 1 and tokens[0] == name[0][0]
