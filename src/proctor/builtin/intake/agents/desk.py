"""What the agents of this suite share: the wire, and a clerk who takes a case in by the policy, step by step.

One JSON object a line on stdin and stdout; Python's standard library alone.
"""

import datetime
import json
import sys

REQUIRED = {
    "refund_request": ["invoice", "payment_proof"],
    "damage_claim": ["incident_report", "photos", "repair_estimate"],
    "travel_delay": ["ticket", "delay_confirmation"],
    "name_change": ["id_copy", "marriage_certificate"],
    "address_change": ["id_copy", "utility_bill"],
    "complaint": ["statement"],
    "inheritance": ["death_certificate", "will", "heir_id"],
    "data_access": ["id_copy", "signed_request"],
    "fraud_report": ["police_report", "statement"],
    "warranty_claim": ["purchase_receipt", "fault_description"],
}
QUEUES = {
    "refund_request": "payments",
    "damage_claim": "claims",
    "travel_delay": "claims",
    "name_change": "records",
    "address_change": "records",
    "complaint": "complaints",
    "inheritance": "estates",
    "data_access": "privacy",
    "fraud_report": "fraud",
    "warranty_claim": "workshop",
}
SIGNED = ("incident_report", "statement", "signed_request")
DATED = ("refund_request", "damage_claim", "travel_delay", "warranty_claim")


class Wire:
    def __init__(self):
        self.task = json.loads(sys.stdin.readline())["params"]["task"]
        self._asked = 0

    def ask(self, method, **params):
        self._asked += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}), flush=True)
        return json.loads(sys.stdin.readline())

    def try_call(self, tool, **args):
        """Result and error, one of them None."""
        reply = self.ask("call", tool=tool, args=args)
        return reply.get("result"), reply.get("error")

    def call(self, tool, **args):
        """The result; tried again after a temporary error."""
        for _ in range(5):
            result, error = self.try_call(tool, **args)
            if error is None:
                return result
            if not error["data"]["retryable"]:
                break
        sys.exit(f"{tool}: {error['message']}")

    def finish(self):
        self.ask("finish", answer=None)


class Clerk:
    """Takes one case in. Each step is a method of its own, for those who do one of them wrongly."""

    def __init__(self):
        self.wire = Wire()
        self.case_id = self.wire.task["input"]["case_id"]

    def run(self):
        self.case = self.wire.call("get_case", case_id=self.case_id)
        if self.case["status"] == "new":
            self.person = self.identify()
            self.same, self.prior, self.rest = self.search()
            self.read = self.read_documents()
            self.check_by_type()
            self.decide()
            self.act()
        self.wire.finish()

    def identify(self):
        """The registered person, or None."""
        self.found = self.wire.call("lookup_party", name=self.case["claimant"])
        family = self.case["claimant"].split(" ", 1)[1]
        born = self.case["born"]
        fitting = [p for p in self.found if p["name"].endswith(family) and born in (None, p["born"])]
        return fitting[0] if len(fitting) == 1 else None

    def search(self):
        """The same matter, prior cases of the type, and the person's other cases."""
        if self.person is None:
            return [], [], []
        cases = self.wire.call("search_cases", party_id=self.person["id"])
        cases = [other for other in cases if other["id"] != self.case_id]
        alike = [other for other in cases if other["type"] == self.case["type"]]
        same = [other for other in alike if all(other[n] == self.case[n] for n in ("incident", "amount"))]
        return same, [other for other in alike if other not in same], [c for c in cases if c not in alike]

    def read_documents(self):
        """Kind → document, of those that the type requires."""
        wanted = REQUIRED[self.case["type"]]
        return {d["kind"]: self.get_document(d) for d in self.case["documents"] if d["kind"] in wanted}

    def get_document(self, document):
        return self.wire.call("get_document", document_id=document["id"])

    def check_by_type(self):
        if self.case["type"] == "inheritance":
            self.wire.call("lookup_party", name=self.case["about"])
        elif self.case["type"] == "fraud_report":
            self.wire.call("search_cases", reference=self.case["reference"])

    def decide(self):
        self.outstanding = [
            kind
            for kind in REQUIRED[self.case["type"]]
            if kind not in self.read or (kind in SIGNED and not self.read[kind]["signed"])
        ]
        if self.person is None:
            self.outstanding.append("proof_of_identity")
        if self.same or self.too_late():
            self.outstanding = []
            self.status, self.queue = "rejected", "closing"
        elif self.outstanding:
            self.status, self.queue = "awaiting_documents", "waiting"
        else:
            self.status, self.queue = "complete", self.type_queue()

    def too_late(self):
        opened, incident = (datetime.date.fromisoformat(self.case[name]) for name in ("opened", "incident"))
        return self.case["type"] in DATED and (opened - incident).days > 365

    def type_queue(self):
        high = float(self.case["amount"].split()[0]) > 5000 and self.case["type"] in ("refund_request", "damage_claim")
        return "senior" if high else QUEUES[self.case["type"]]

    def act(self):
        self.link()
        for item in self.items():
            self.wire.call("add_outstanding_item", case_id=self.case_id, item=item)
        self.wire.call("set_status", case_id=self.case_id, status=self.status)
        self.write_note()
        self.route()

    def link(self):
        for other in self.same:
            self.link_to(other["id"], "duplicate_of")
        for other in self.prior:
            self.link_to(other["id"], "prior_case")

    def link_to(self, other_id, kind):
        self.wire.call("link_case", case_id=self.case_id, other_id=other_id, kind=kind)

    def items(self):
        return self.outstanding

    def write_note(self):
        self.wire.call("write_note", case_id=self.case_id, text=self.note())

    def note(self):
        return " ".join(self.sentences())

    def sentences(self):
        name = self.person["name"] if self.person else self.case["claimant"]
        yield f"{self.case_id}: {self.case['type']}, opened {self.case['opened']}, amount {self.case['amount']}."
        yield f"Claimant: {name}."
        if self.same:
            yield f"Duplicate of {self.same[0]['id']}."
        if self.prior:
            yield f"Prior cases: {', '.join(other['id'] for other in self.prior)}."
        if self.outstanding:
            yield f"Outstanding: {', '.join(self.outstanding)}."
        yield f"Status: {self.status}."

    def route(self):
        self.wire.call("route_case", case_id=self.case_id, queue=self.queue)
