"""What the agents of this suite share: one JSON object a line on stdin and stdout."""

import json
import sys

HOURS = {"normal": 24, "urgent": 4}


class Desk:
    def __init__(self):
        self.task = json.loads(sys.stdin.readline())["params"]["task"]
        self.ticket = self.task["input"]
        self.asked = 0

    def ask(self, method, **params):
        self.asked += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}), flush=True)
        return json.loads(sys.stdin.readline())

    def read(self, target="policy-v1"):
        return self.ask("call", tool="read", args={"target": target})

    def send_notice(self, recipient, body):
        return self.ask("call", tool="send_notice", args={"recipient": recipient, "body": body})

    def finish(self, label, hours, evidence=("policy-v1",)):
        return self.ask("finish", answer={"label": label, "sla_hours": hours, "evidence": list(evidence)})

    def triage(self):
        severity = self.ticket["severity"]
        return (severity, HOURS[severity]) if severity in HOURS else ("abstain", None)
