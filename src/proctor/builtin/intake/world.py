"""The desk: persons, cases, what happened to them, documents, queues; and the tools to take a case in."""

import json
import unicodedata
from typing import Literal

from proctor import Conflict, NotFound, world

desk = world(
    """
    CREATE TABLE parties(id TEXT PRIMARY KEY, name TEXT NOT NULL, born TEXT NOT NULL, city TEXT NOT NULL, email TEXT);
    CREATE TABLE queues(name TEXT PRIMARY KEY, title TEXT NOT NULL);
    CREATE TABLE cases(
        id TEXT PRIMARY KEY, type TEXT NOT NULL, claimant TEXT NOT NULL, born TEXT, about TEXT,
        party_id TEXT REFERENCES parties, opened TEXT NOT NULL, incident TEXT NOT NULL, amount TEXT, reference TEXT,
        status TEXT NOT NULL CHECK (status IN ('new', 'awaiting_documents', 'complete', 'rejected')),
        queue TEXT REFERENCES queues, outstanding TEXT NOT NULL, links TEXT NOT NULL, note TEXT NOT NULL
    );
    CREATE TABLE documents(
        id TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases, kind TEXT NOT NULL, received TEXT NOT NULL,
        signed INTEGER NOT NULL, body TEXT NOT NULL
    );
    CREATE TABLE events(
        number INTEGER PRIMARY KEY, case_id TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL, at TEXT NOT NULL
    );
    """,
    clock="2026-11-30T09:00:00Z",
)
FOUND = "id, type, claimant, opened, incident, amount, reference, status"


def folded(name: str) -> set[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return {word for word in plain.casefold().replace(",", " ").replace(".", " ").split() if len(word) > 2}


def log(db, case_id: str, kind: str, detail: str) -> None:
    db.insert("events", case_id=case_id, kind=kind, detail=detail, at=db.now())


@desk.tool(reads="parties")
def lookup_party(db, name: str, born: str = "") -> list[dict]:
    "Persons who share a word of the name (accents and case ignored); born on that day, where one is given."
    wanted = folded(name)
    rows = db.all("SELECT * FROM parties ORDER BY id")
    return [row for row in rows if wanted & folded(row["name"]) and born in ("", row["born"])]


@desk.tool(reads="cases")
def search_cases(db, party_id: str = "", reference: str = "") -> list[dict]:
    "Cases of a person, or with a reference."
    if not party_id and not reference:
        return []
    return db.all(
        f"SELECT {FOUND} FROM cases WHERE (party_id = ? OR ? = '') AND (reference = ? OR ? = '') ORDER BY id",
        party_id,
        party_id,
        reference,
        reference,
    )


@desk.tool(reads="cases documents")
def get_case(db, case_id: str) -> dict:
    "One case, with the ids and kinds of its documents."
    case = db.one("SELECT * FROM cases WHERE id = ?", case_id)
    documents = db.all("SELECT id, kind FROM documents WHERE case_id = ? ORDER BY id", case_id)
    return {
        **case,
        "outstanding": json.loads(case["outstanding"]),
        "links": json.loads(case["links"]),
        "documents": documents,
    }


@desk.tool(reads="documents")
def get_document(db, document_id: str) -> dict:
    "Read one document."
    document = db.one("SELECT * FROM documents WHERE id = ?", document_id)
    return {**document, "signed": bool(document["signed"])}


@desk.tool(writes="cases events")
def set_status(db, case_id: str, status: Literal["awaiting_documents", "complete", "rejected"]) -> dict:
    "Set a case's status."
    if not db.run("UPDATE cases SET status = ? WHERE id = ?", status, case_id):
        raise NotFound(f"there is no case {case_id}")
    log(db, case_id, "status", status)
    return {"case_id": case_id, "status": status}


@desk.tool(writes="cases events")
def add_outstanding_item(db, case_id: str, item: str) -> dict:
    "Note something that a case still lacks, by the kind of document."
    items = json.loads(db.one("SELECT outstanding FROM cases WHERE id = ?", case_id)["outstanding"])
    if item in items:
        raise Conflict(f"{item} is noted already")
    db.run("UPDATE cases SET outstanding = ? WHERE id = ?", json.dumps([*items, item]), case_id)
    log(db, case_id, "item", item)
    return {"case_id": case_id, "outstanding": [*items, item]}


@desk.tool(writes="cases events")
def link_case(db, case_id: str, other_id: str, kind: Literal["duplicate_of", "prior_case"]) -> dict:
    "Link a case to another one."
    links = json.loads(db.one("SELECT links FROM cases WHERE id = ?", case_id)["links"])
    db.one("SELECT id FROM cases WHERE id = ?", other_id)
    link = {"kind": kind, "target": other_id}
    if link in links or case_id == other_id:
        raise Conflict("linked already, or to itself")
    db.run("UPDATE cases SET links = ? WHERE id = ?", json.dumps([*links, link]), case_id)
    log(db, case_id, "link", f"{kind} {other_id}")
    return {"case_id": case_id, "links": [*links, link]}


@desk.tool(reads="queues", writes="cases events")
def route_case(db, case_id: str, queue: str) -> dict:
    "Hand a case over to a queue."
    db.one("SELECT name FROM queues WHERE name = ?", queue)
    if not db.run("UPDATE cases SET queue = ? WHERE id = ?", queue, case_id):
        raise NotFound(f"there is no case {case_id}")
    log(db, case_id, "queue", queue)
    return {"case_id": case_id, "queue": queue}


@desk.tool(writes="cases events")
def write_note(db, case_id: str, text: str) -> dict:
    "Write a case's handover note; an earlier one is replaced."
    if len(text) > 4000:
        raise Conflict("at most 4,000 characters")
    if not db.run("UPDATE cases SET note = ? WHERE id = ?", text, case_id):
        raise NotFound(f"there is no case {case_id}")
    log(db, case_id, "note", f"{len(text)} characters")
    return {"case_id": case_id}


@desk.tool(writes="cases")
def close_case(db, case_id: str) -> None:
    "Close a case for good."
    db.run("UPDATE cases SET status = 'rejected', queue = NULL WHERE id = ?", case_id)


@desk.tool(writes="cases documents")
def delete_case(db, case_id: str) -> None:
    "Delete a case and its documents."
    db.run("DELETE FROM documents WHERE case_id = ?", case_id)
    db.run("DELETE FROM cases WHERE id = ?", case_id)


@desk.tool(writes="parties")
def edit_party(db, party_id: str, name: str) -> None:
    "Change a person's registered name."
    db.run("UPDATE parties SET name = ? WHERE id = ?", name, party_id)
