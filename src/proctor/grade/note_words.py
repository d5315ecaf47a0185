"""Words that the note grader knows: months in ten languages, currencies, and what says that an item is there or not."""

from __future__ import annotations

import unicodedata

__all__ = ["COMMON", "CURRENCIES", "HERE", "MONTHS", "NOT_HERE", "PARTICLES", "TITLES", "fold"]


def _fold_character(character: str) -> str:
    base = unicodedata.normalize("NFKD", character)[0].lower()
    return base if len(base) == 1 else character


def fold(text: str) -> str:
    """Without case and accents, character by character: the result is as long as the text."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


_MONTHS = """
january jan|februari february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|november nov|december dec
januar janner|februar|marz|april|mai|juni|juli|august|september|oktober okt|november|dezember dez
janvier janv|fevrier fevr|mars|avril avr|mai|juin|juillet juil|aout|septembre|octobre|novembre|decembre
enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre setiembre|octubre|noviembre|diciembre
gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre
janeiro|fevereiro|marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro
januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december
stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|wrzesnia|pazdziernika|listopada|grudnia
січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня
января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря
"""  # noqa: E501
MONTHS = {
    fold(name): number
    for line in _MONTHS.strip().split("\n")
    for number, names in enumerate(line.split("|"), 1)
    for name in names.split()
}
"""Folded month names → 1 to 12."""

CURRENCIES = {
    **{code.lower(): code for code in ("EUR", "USD", "GBP", "CHF", "PLN", "UAH", "SEK", "NOK", "DKK", "CZK", "CAD")},
    "€": "EUR", "$": "USD", "£": "GBP", "₴": "UAH", "euro": "EUR", "euros": "EUR", "dollars": "USD", "dollar": "USD",
    "pounds": "GBP", "francs": "CHF", "zł": "PLN", "zl": "PLN", "zloty": "PLN",
}  # fmt: skip

HERE = (
    "received", "on file", "enclosed", "attached", "present", "provided", "supplied", "submitted", "checked", "read",
    "verified", "in order", "arrived", "came in", "reviewed", "included", "handed in", "seen", "signed",
    r"(?:have|has)(?!\s+(?:not|been|yet|to)\b)",
)  # fmt: skip
NOT_HERE = (
    "missing", "outstanding", "awaiting", "awaited", "lacking", "lacks", "lack", "needed", "needs", "need", "requested",
    "to be sent", "to come", "absent", "without", "pending", "unsigned", "asked for", "ask for", "please send",
    "still open", "owed", "required", "waiting for", "no",
)  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTICLES = _set("van von de der den del la da dos di el al bin ter zu le")
TITLES = _set("mr mrs ms miss mx dr prof herr frau mme madame monsieur senor senora pan pani")
COMMON = _set(
    """
    a after all also although an and any are as asked at awaiting because been before both but by case cases check
    checked checks claim complete completed contact date dear decision document documents due duplicate each enclosed
    file filed following for from hand handover has have he her his i id identity if in information is it items
    its let link linked links missing name nb new next no none not note noted nothing notes now of on once one only open
    opened or other our outstanding party pending person please prior queue reason received record records reference
    register regards rejected request requested requester required reviewed route routed see sent she signed since so
    status still sum summary that the their them there these they this to total two type under until update verified
    waiting was we were what when where which while with without yes you your same second first third amount claimant
    applicant customer respondent registered known matched found read opens sir madam team desk hello monday tuesday
    wednesday thursday friday saturday sunday today yesterday earlier further he's it's kind best
    """
)
"""Words that are often written with a capital and are no part of anybody's name."""
