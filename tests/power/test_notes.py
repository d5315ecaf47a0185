"""Notes that are right, said in twenty ways, pass; twenty that are subtly false fail, with the false claim named."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.grade import grade_note

RECORD: dict[str, Any] = {
    "facts": [
        {"field": "case", "kind": "id", "value": "C-1043"},
        {"field": "party", "kind": "id", "value": "P-0017"},
        {"field": "duplicate", "kind": "id", "value": "C-1002", "required": True},
        {"field": "prior", "kind": "id", "value": "C-0871"},
        {"field": "document", "kind": "id", "value": "D-3301"},
        {"field": "claimant", "kind": "name", "value": "Anna Kovács", "also": ["Anna Kovacs-Varga"], "required": True},
        {"field": "respondent", "kind": "name", "value": "Ben van Dijk"},
        {"field": "opened", "kind": "date", "value": "2026-11-12"},
        {"field": "incident", "kind": "date", "value": "2026-10-03"},
        {"field": "amount", "kind": "amount", "value": "1250.00 EUR"},
        {"field": "status", "kind": "status", "value": "awaiting_documents"},
        {"field": "outstanding", "kind": "item", "value": "repair_estimate", "state": "outstanding", "required": True},
        {"field": "documents", "kind": "item", "value": "incident_report", "state": "present"},
        {"field": "documents", "kind": "item", "value": "photos", "state": "present"},
    ],
    "labels": {
        "name": {"claimant": ["claimant", "filed by"], "respondent": ["respondent", "against"]},
        "date": {"opened": ["opened", "case opened"], "incident": ["incident", "damage of", "happened"]},
        "id": {"duplicate": ["duplicate of", "duplicates"], "prior": ["prior case", "earlier case"]},
    },
    "vocabulary": {
        "status": ["new", "awaiting_documents", "complete", "rejected"],
        "item": ["repair_estimate", "incident_report", "photos", "invoice", "id_copy"],
        "words": ["Claims", "Desk"],
    },
}
TRUE = "Claimant Anna Kovács, respondent Ben van Dijk. Duplicate of C-1002. Outstanding: repair estimate."
RIGHT = [
    TRUE,
    "C-1043: filed by Anna Kovacs against Ben van Dijk; duplicates C-1002. The repair estimate is missing.",
    "Anna Kovács (claimant) – Ben van Dijk (respondent). Duplicate of C-1002; still awaiting the repair_estimate.",
    "Kovács, Anna. Linked as duplicate of C-1002, prior case C-0871. Repair estimate has not been received.",
    "Incident report and photos are on file, the repair estimate is outstanding. Anna Kovács, duplicate of C-1002.",
    "Received: incident report, photos. Missing: repair estimate. Claimant: Anna Kovács. Duplicate of: C-1002.",
    "Status: awaiting documents. Anna Kovács claims 1,250.00 EUR; C-1002 is the same. Repair estimate needed.",
    "Opened on 12 November 2026 for Anna Kovács, EUR 1.250,00, see C-1002. We still need the repair estimate.",
    "Case opened November 12, 2026; incident 3 Oct 2026. Anna Kovács. C-1002. The repair estimate is pending.",
    "Eröffnet am 12. November 2026 (Anna Kovács, 1 250 €), C-1002. Outstanding: Repair Estimate.",
    "Anna Kovács, 12/11/2026, C-1002. Photos received, repair estimate not received.",
    "Anna Kovács, 11/12/2026, C-1002. Without repair estimate; photos enclosed.",
    "Incident le 3 octobre 2026, dossier ouvert 12.11.2026, Anna Kovács, C-1002; repair estimate: missing.",
    "Ms Kovács asked about C-1002. Amount CHECKED: €1,250. Please send the repair estimate.",
    "A. Kovács: duplicate of C-1002, not a duplicate of C-0871. Awaiting repair estimate (D-3301 is only a letter).",
    "Anna Kovács's case is awaiting documents: repair estimate lacking. See C-1002. Prior case C-0871 was rejected.",
    "C-1043 now waits for the repair estimate, which is outstanding. Anna Kovács / C-1002 / 2026-11-12 / P-0017.",
    "Spoke to nobody. Anna Kovács sent photos and the incident report but no repair estimate. Duplicate of C-1002.",
    "Damage of 03.10.2026 at Anna Kovács, 1'250.00 EUR. C-1002 came first. The repair estimate is still to come.",
    "Dear Claims Desk, Anna Kovács is the claimant. Duplicate of C-1002. Repair estimate requested. Kind regards",
]
OUT = "repair_estimate: outstanding"
WRONG: list[tuple[str, str, str, Any]] = [
    ("Amount 1,260.00 EUR.", "contradicted_claim", "1,260.00 EUR", "1250.00 EUR"),
    ("Amount 1.250,00 USD.", "contradicted_claim", "1.250,00 USD", "1250.00 EUR"),
    ("The sum is 12,500.00 EUR.", "contradicted_claim", "12,500.00 EUR", "1250.00 EUR"),
    ("Opened on 12 October 2026.", "contradicted_claim", "12 October 2026", "2026-11-12"),
    ("Opened on 2026-11-21.", "contradicted_claim", "2026-11-21", "2026-11-12"),
    ("Opened on 3 October 2026.", "contradicted_claim", "3 October 2026", "2026-11-12"),
    ("The incident happened on 3. September 2026.", "contradicted_claim", "3. September 2026", "2026-10-03"),
    ("Opened 12.12.2026.", "contradicted_claim", "12.12.2026", "2026-11-12"),
    ("See also case C-1034.", "contradicted_claim", "C-1034", "C-1043"),
    ("Prior case C-0872.", "contradicted_claim", "C-0872", "C-0871"),
    ("Prior case C-1002.", "contradicted_claim", "C-1002", "C-0871"),
    ("Duplicate of C-0871.", "contradicted_claim", "C-0871", "C-1002"),
    ("It was filed by Ben van Dijk against Anna Kovács.", "contradicted_claim", "Ben van Dijk", "Anna Kovács"),
    ("Anna Kovács is the respondent.", "contradicted_claim", "Anna Kovács", "Ben van Dijk"),
    ("Claimant Anna Kovach.", "contradicted_claim", "Anna Kovach", "Anna Kovács"),
    ("Spoke to Maria Lopez.", "unsupported_claim", "Maria Lopez", None),
    ("The invoice is on file.", "unsupported_claim", "invoice: present", None),
    ("The estimate has arrived: repair estimate received.", "contradicted_claim", "repair_estimate: present", OUT),
    ("The photos are missing.", "contradicted_claim", "photos: outstanding", "photos: present"),
    ("Status: complete.", "contradicted_claim", "complete", "awaiting_documents"),
    ("The case is complete.", "contradicted_claim", "complete", "awaiting_documents"),
    ("ID copy enclosed.", "unsupported_claim", "id_copy: present", None),
    ("Not a duplicate of C-1002.", "contradicted_claim", "C-1002", "C-1002"),
    ("Policy INV-2026-114 applies.", "unsupported_claim", "INV-2026-114", None),
]  # fmt: skip


@pytest.mark.parametrize("note", RIGHT)
def test_a_true_note_passes_whatever_its_words(note: str) -> None:
    assert grade_note(note, RECORD).codes == []


@pytest.mark.parametrize(("sentence", "code", "got", "expected"), WRONG)
def test_a_false_sentence_is_named(sentence: str, code: str, got: str, expected: Any) -> None:
    codes = grade_note(f"{TRUE} {sentence}", RECORD).codes
    named = [(c["code"], c["evidence"]["got"], c["evidence"]["expected"]) for c in codes]
    assert (code, got, expected) in named
    if "van Dijk against" not in sentence:
        assert len(named) == 1, named


@pytest.mark.parametrize(
    ("note", "field"),
    [
        (TRUE.replace("Outstanding: repair estimate.", ""), "outstanding"),
        (TRUE.replace("Claimant Anna Kovács, r", "R"), "claimant"),
        (TRUE.replace("Duplicate of C-1002. ", ""), "duplicate"),
    ],
)
def test_what_a_note_must_say_and_does_not_is_named(note: str, field: str) -> None:
    assert [(c["code"], c["evidence"]["field"]) for c in grade_note(note, RECORD).codes] == [("omitted_item", field)]


def test_a_record_may_be_plain_fields() -> None:
    record = {"claimant": "Anna Kovács", "opened": "2026-11-12", "outstanding": ["invoice"], "status": "complete"}
    assert grade_note("Anna Kovács, 12 Nov 2026; invoice missing.", record).passed
    named = [c["code"] for c in grade_note("Anna Kovács, 12 Nov 2025, status rejected.", record).codes]
    assert named == ["contradicted_claim", "contradicted_claim", "omitted_item"]


def test_a_note_beyond_all_length_is_not_taken_for_true() -> None:
    assert [c["code"] for c in grade_note(TRUE + " x" * 20_000, RECORD).codes] == ["unsupported_claim"]
