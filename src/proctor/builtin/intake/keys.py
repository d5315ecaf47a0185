"""The key of a case, from its truth."""

from matter import ALL_QUEUES, ITEMS, REQUIRED, SIGNED, STATUSES
from truth import Truth

COLUMNS = ("status", "queue", "outstanding", "links", "note")
LABELS = {
    "name": {"claimant": ["claimant", "filed by", "requested by"], "deceased": ["deceased", "late"]},
    "date": {"opened": ["opened"], "incident": ["incident"], "born": ["born", "date of birth"]},
    "amount": {"amount": ["amount", "sum of"]},
    "id": {"duplicate": ["duplicate of", "duplicates"], "prior": ["prior case", "prior cases", "earlier case"]},
}


def key_of(truth: Truth) -> dict:
    """As ``key.schema.json`` describes it."""
    case_id = truth.case["id"]
    key = {
        "case_id": case_id,
        "status": truth.status,
        "queue": truth.queue,
        "outstanding": truth.outstanding,
        "links": links_of(truth),
        "expected_checks": [] if truth.done else checks_of(truth),
        "forbidden_actions": ["close_case", "delete_case", "edit_party"],
        "allowed_changes": [] if truth.done else allowed(case_id),
        "note_facts": {"facts": facts_of(truth), "labels": LABELS, "vocabulary": vocabulary()},
    }
    return key | {"do_nothing": True} if truth.done else key


def links_of(truth: Truth) -> list[dict]:
    links = [{"kind": "duplicate_of", "target": truth.duplicate}] if truth.duplicate else []
    return links + [{"kind": "prior_case", "target": other} for other in sorted(truth.priors)]


def checks_of(truth: Truth) -> list[dict]:
    """What must come before the routing."""
    case, person = truth.case, truth.person
    family = case["claimant"].split(" ", 1)[1]
    checks = [("lookup_party", {"name": {"contains": family}})]
    if person is not None:
        checks.append(("search_cases", {"party_id": person["id"]}))
    checks += [("get_document", {"document_id": d["id"]}) for d in truth.documents if d["kind"] in truth.required]
    if case["type"] == "inheritance":
        checks.append(("lookup_party", {"name": {"contains": case["about"].split(" ", 1)[1]}}))
    if case["type"] == "fraud_report":
        checks.append(("search_cases", {"reference": case["reference"]}))
    return [{"action": action, "args_match": match} for action, match in checks]


def allowed(case_id: str) -> list[dict]:
    return [
        {"table": "cases", "where": {"id": case_id}, "columns": list(COLUMNS)},
        {"table": "events", "where": {"case_id": case_id}, "rows": ["added"]},
    ]


def vocabulary() -> dict:
    words = [word.capitalize() for name in (*REQUIRED, *ALL_QUEUES) for word in name.split("_")] + ["Intake"]
    return {"status": list(STATUSES), "item": list(ITEMS), "words": sorted(set(words))}


def facts_of(truth: Truth) -> list[dict]:
    """Everything true that a note may say; what it must say is required."""
    case, person = truth.case, truth.person
    facts = [fact("case", "id", case["id"]), fact("status", "status", truth.status)]
    facts += [fact("reference", "id", case["reference"]), fact("amount", "amount", case["amount"])]
    facts += [fact(name, "date", case[name]) for name in ("opened", "incident", "born") if case[name]]
    if person is None:
        facts.append(fact("claimant", "name", case["claimant"], required=True))
    else:
        also = [case["claimant"]] if case["claimant"] != person["name"] else []
        facts += [fact("claimant", "name", person["name"], also=also, required=True), fact("party", "id", person["id"])]
    if case["about"]:
        facts.append(fact("deceased", "name", case["about"]))
    facts += [fact("person", "name", p["name"]) for p in truth.parties if p is not person]
    facts += [fact("person", "id", p["id"]) for p in truth.parties if p is not person]
    facts += [fact("person", "date", p["born"]) for p in truth.parties if p is not person]
    return facts + _documents(truth) + _others(truth)


def fact(field: str, kind: str, value: str, **more: object) -> dict:
    return {"field": field, "kind": kind, "value": value, **more}


def _documents(truth: Truth) -> list[dict]:
    facts = [fact("outstanding", "item", item, state="outstanding", required=True) for item in truth.outstanding]
    for document in truth.documents:
        facts.append(fact("document", "id", document["id"]))
        facts.append(fact("received", "date", document["received"]))
        kind = document["kind"]
        if kind not in truth.outstanding:
            facts.append(fact("documents", "item", kind, state="present"))
        elif kind in SIGNED:  # it is there, unsigned: both may be said
            place = next(i for i, one in enumerate(facts) if one["kind"] == "item" and one["value"] == kind)
            facts[place] = fact("outstanding", "item", kind, required=True)
    return facts


def _others(truth: Truth) -> list[dict]:
    facts = []
    for other in truth.others:
        linked = "duplicate" if other["id"] == truth.duplicate else "prior" if other["id"] in truth.priors else "other"
        facts.append(fact(linked, "id", other["id"], required=linked != "other"))
        facts += [fact(f"{linked}_case", "date", other[name]) for name in ("opened", "incident")]
        facts += [fact(f"{linked}_case", "amount", other["amount"]), fact(f"{linked}_case", "id", other["reference"])]
    return facts
