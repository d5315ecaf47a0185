"""Graders of account numbers. Found by Proctor through the entry point group ``proctor.graders``."""

from __future__ import annotations

from proctor import Evidence, Finding, Grade, grader


def checksum_holds(iban: str) -> bool:
    """Whether an IBAN's check digits fit (ISO 13616, ISO 7064 MOD 97-10)."""
    if not iban.isascii() or not iban.isalnum() or not 15 <= len(iban) <= 34:
        return False
    return int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


@grader(codes={"account": "another account, or a number whose checksum doesn't hold"})
def iban(e: Evidence) -> Grade:
    """The answer's account number is the expected one, however it is spaced, and its checksum holds."""
    written, wanted = e.answer["iban"], e.expected_answer["iban"]
    plain = "".join(written.split()).upper()
    if plain == wanted and checksum_holds(plain):
        return e.ok()
    return e.grade([Finding(code="account", field="iban", expected=wanted, found=written)])
