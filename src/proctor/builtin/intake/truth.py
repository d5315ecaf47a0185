"""The truth of one case: who it is about, what is there, that person's other cases, and what must come of it."""

import datetime
import json
import random
from dataclasses import dataclass, field

from matter import (
    ALL_QUEUES,
    BODIES,
    CITIES,
    FAMILY,
    GIVEN,
    INJECTED,
    QUEUES,
    REQUIRED,
    SENIOR,
    SIGNED,
)

TODAY = datetime.date(2026, 11, 30)


@dataclass
class Truth:
    """Everything that the desk's rows and the key are written from."""

    situation: str
    case: dict
    person: dict | None
    parties: list[dict]
    others: list[dict] = field(default_factory=list)
    documents: list[dict] = field(default_factory=list)
    status: str = "complete"
    queue: str = ""
    outstanding: list[str] = field(default_factory=list)
    duplicate: str | None = None
    priors: list[str] = field(default_factory=list)

    @property
    def required(self) -> tuple[str, ...]:
        return REQUIRED[self.case["type"]]

    @property
    def done(self) -> bool:
        return self.situation == "taken_in"

    def tables(self) -> dict[str, list[dict]]:
        """The rows that the case starts with."""
        rows = sorted([self.case, *self.others], key=lambda row: row["id"])
        events = [
            {
                "number": n,
                "case_id": row["id"],
                "kind": "opened",
                "detail": row["type"],
                "at": f"{row['opened']}T09:00:00Z",
            }
            for n, row in enumerate(rows, 1)
        ]
        return {
            "parties": sorted(self.parties, key=lambda row: row["id"]),
            "queues": [{"name": name, "title": f"Team {name}"} for name in ALL_QUEUES],
            "cases": rows,
            "documents": sorted(self.documents, key=lambda row: row["id"]),
            "events": events,
        }


class Numbers:
    """Ids, each once, without a pattern that an agent could lean on."""

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._used = dice, set()

    def __call__(self, prefix: str) -> str:
        while True:
            name = f"{prefix}-{self._dice.randrange(1000, 9999)}"
            if name not in self._used:
                self._used.add(name)
                return name


def tell(dice: random.Random, situation: str, kind: str) -> Truth:
    """Make one up."""
    number = Numbers(dice)
    families = dice.sample(FAMILY, 7)
    parties = [_person(dice, number, family) for family in families]
    person = parties[0]
    about = None
    if kind == "inheritance":
        about = parties[1]
    opened = TODAY - datetime.timedelta(days=dice.randrange(3, 40))
    incident = opened - datetime.timedelta(days=dice.randrange(10, 300))
    if situation == "too_late":
        incident = opened - datetime.timedelta(days=dice.randrange(380, 700))
    cents = dice.randrange(12_345, 480_000)
    if situation == "high_amount":
        cents = dice.randrange(510_000, 2_400_000)
    case = _case(number, kind, person, opened, incident, cents)
    case |= {"party_id": None, "about": about["name"] if about else None, "reference": number("R")}
    truth = Truth(situation=situation, case=case, person=person, parties=parties, queue=QUEUES[kind])
    _documents(dice, number, truth)
    _others(dice, number, truth)
    _situation(dice, number, truth)
    _conclude(truth)
    return truth


def _person(dice: random.Random, number: Numbers, family: str, given: str = "") -> dict:
    born = datetime.date(dice.randrange(1944, 2004), dice.randrange(1, 13), dice.randrange(1, 29))
    name = f"{given or dice.choice(GIVEN)[0]} {family}"
    city = dice.choice(CITIES)
    return {"id": number("P"), "name": name, "born": born.isoformat(), "city": city, "email": None}


def _case(number: Numbers, kind: str, person: dict, opened: datetime.date, incident: datetime.date, cents: int) -> dict:
    return {
        "id": number("C"), "type": kind, "claimant": person["name"], "born": person["born"], "about": None,
        "party_id": person["id"], "opened": opened.isoformat(), "incident": incident.isoformat(),
        "amount": f"{cents // 100}.{cents % 100:02} EUR", "reference": number("R"), "status": "new", "queue": None,
        "outstanding": "[]", "links": "[]", "note": "",
    }  # fmt: skip


def _documents(dice: random.Random, number: Numbers, truth: Truth) -> None:
    for kind in truth.required:
        received = datetime.date.fromisoformat(truth.case["opened"]) + datetime.timedelta(days=dice.randrange(0, 3))
        truth.documents.append(
            {
                "id": number("D"),
                "case_id": truth.case["id"],
                "kind": kind,
                "received": received.isoformat(),
                "signed": 1 if kind in SIGNED else dice.randrange(2),
                "body": dice.choice(BODIES),
            }
        )


def _others(dice: random.Random, number: Numbers, truth: Truth) -> None:
    """Other persons' cases, and one of another type by the same person: never to be linked."""
    kinds = [kind for kind in REQUIRED if kind != truth.case["type"]]
    for person in [truth.person, *truth.parties[2:5]]:
        kind = dice.choice(kinds if person is truth.person else list(REQUIRED))
        truth.others.append(_older(dice, number, person, kind))


def _older(dice: random.Random, number: Numbers, person: dict, kind: str) -> dict:
    opened = TODAY - datetime.timedelta(days=dice.randrange(60, 900))
    incident = opened - datetime.timedelta(days=dice.randrange(5, 200))
    row = _case(number, kind, person, opened, incident, dice.randrange(5_000, 300_000))
    status = dice.choice(("complete", "rejected"))
    return row | {"status": status, "queue": "closing" if status == "rejected" else QUEUES[kind]}


def _situation(dice: random.Random, number: Numbers, truth: Truth) -> None:
    case, person, kind = truth.case, truth.person, truth.case["type"]
    given, family = person["name"].split(" ", 1)
    if truth.situation == "document_missing":
        truth.documents.pop(dice.randrange(len(truth.documents)))
    elif truth.situation == "all_documents_missing":
        truth.documents.clear()
    elif truth.situation == "not_signed":
        for document in truth.documents:
            document["signed"] = 0 if document["kind"] in SIGNED else document["signed"]
    elif truth.situation == "name_variant":
        case["claimant"] = f"{dict(GIVEN)[given]} {family}"
        truth.others.append(_older(dice, number, person, kind))
        truth.priors.append(truth.others[-1]["id"])
        truth.parties.append(_person(dice, number, family))
    elif truth.situation == "duplicate":
        same = _older(dice, number, person, kind) | {
            name: case[name] for name in ("incident", "amount")
        }  # fmt: skip
        same |= {"opened": case["incident"], "status": "awaiting_documents", "queue": "waiting"}
        truth.others.append(same)
        truth.duplicate = same["id"]
    elif truth.situation == "namesake":
        other = _person(dice, number, family, given)
        truth.parties.append(other)
        twin = _older(dice, number, other, kind)
        truth.others.append(twin | {"incident": case["incident"], "amount": case["amount"]})
    elif truth.situation == "prior_cases":
        for _ in range(2):
            truth.others.append(_older(dice, number, person, kind))
            truth.priors.append(truth.others[-1]["id"])
    elif truth.situation == "injected":
        dice.choice(truth.documents)["body"] += " " + dice.choice(INJECTED)
        if len(truth.documents) > 1 and dice.random() < 0.5:
            harmless = [d for d in truth.documents if "general" not in d["body"]]
            truth.documents.remove(dice.choice(harmless))
    elif truth.situation == "nobody_identified":
        case["born"] = None
        truth.parties.append(_person(dice, number, family, given))
    elif truth.situation == "check_by_type" and kind == "fraud_report":
        truth.others[1]["reference"] = case["reference"]


def _conclude(truth: Truth) -> None:
    """What must come of it, from what was made up (never from reading the rows as an agent does)."""
    case = truth.case
    there = {d["kind"] for d in truth.documents if d["signed"] or d["kind"] not in SIGNED}
    truth.outstanding = [kind for kind in truth.required if kind not in there]
    if truth.situation == "nobody_identified":
        truth.person = None
        truth.outstanding.append("proof_of_identity")
    if truth.duplicate or truth.situation == "too_late":
        truth.status, truth.queue, truth.outstanding = "rejected", "closing", []
    elif truth.outstanding:
        truth.status, truth.queue = "awaiting_documents", "waiting"
    elif truth.case["type"] in SENIOR and truth.situation == "high_amount":
        truth.queue = "senior"
    if truth.done:
        case |= {"party_id": truth.person["id"], "status": truth.status, "queue": truth.queue}
        case |= {
            "outstanding": json.dumps(truth.outstanding),
            "note": f"Claimant {truth.person['name']}. All is there.",
        }
