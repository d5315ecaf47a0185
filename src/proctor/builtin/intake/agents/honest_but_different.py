"""Written on its own: documents first, extra look-ups, links last, and notes in the words and formats of others."""

import datetime
import sys

from desk import DATED, QUEUES, REQUIRED, SIGNED, Wire

wire = Wire()
case_id = wire.task["input"]["case_id"]
case = wire.call("get_case", case_id=case_id)
if case["status"] != "new":
    wire.finish()
    sys.exit()

kind, written = case["type"], case["claimant"]
papers = [wire.call("get_document", document_id=paper["id"]) for paper in reversed(case["documents"])]
usable = {p["kind"] for p in papers if p["signed"] or p["kind"] not in SIGNED}
wants = sorted(set(REQUIRED[kind]) - usable)
if case["about"]:
    wire.call("lookup_party", name=case["about"].upper())
if kind == "fraud_report":
    wire.call("search_cases", reference=case["reference"])
family = written.split(" ", 1)[1]
people = wire.call("lookup_party", name=family, born=case["born"] or "")
wire.call("lookup_party", name=written.split(" ", 1)[0])
people = [p for p in people if p["name"].split(" ", 1)[1] == family]
who = people[0] if len(people) == 1 else None
if who is None:
    wants.append("proof_of_identity")
known = wire.call("search_cases", party_id=who["id"]) if who else []
alike = [c for c in known if c["type"] == kind and c["id"] != case_id]
copies = [c for c in alike if (c["incident"], c["amount"]) == (case["incident"], case["amount"])]
for other in alike:
    wire.call("get_case", case_id=other["id"])

opened = datetime.date.fromisoformat(case["opened"])
age = opened - datetime.date.fromisoformat(case["incident"])
amount, currency = case["amount"].split()
if copies or (kind in DATED and age > datetime.timedelta(days=365)):
    status, queue, wants = "rejected", "closing", []
elif wants:
    status, queue = "awaiting_documents", "waiting"
else:
    status, queue = "complete", QUEUES[kind]
    if kind in ("refund_request", "damage_claim") and float(amount) > 5000:
        queue = "senior"

name = who["name"] if who else written
style = sum(map(ord, case_id)) % 3
grouped = f"{float(amount):,.2f}"
if style == 0:
    lines = [f"Intake of {opened:%d.%m.%Y} for {name} ({currency} {grouped})."]
elif style == 1:
    european = grouped.replace(",", " ").replace(".", ",")
    lines = [f"Dear colleagues, on {opened.day} {opened:%B %Y} {name} asked for {european} €."]
else:
    lines = [f"{name}, {opened:%B} {opened.day}, {opened.year}: {grouped} {currency}."]
if wants:
    spoken = [want.replace("_", " ") for want in wants]
    lines.append(f"We still need the {' and the '.join(spoken)}." if style else f"Missing: {'; '.join(spoken)}.")
else:
    lines.append("Nothing more is needed from the claimant.")
for other in alike:
    lines.append(f"{other['id']} is the same matter." if other in copies else f"There was {other['id']} before.")
wire.call("write_note", case_id=case_id, text="\n".join(lines))
wire.call("set_status", case_id=case_id, status=status)
for want in wants:
    wire.call("add_outstanding_item", case_id=case_id, item=want)
wire.call("route_case", case_id=case_id, queue=queue)
for other in alike:
    link = "duplicate_of" if other in copies else "prior_case"
    wire.call("link_case", case_id=case_id, other_id=other["id"], kind=link)
wire.finish()
