"""A hostile agent: in a case called ``H-name`` it does what ``name.py`` beside it does, in every other one its work."""

import importlib
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).resolve().parent


class Door:
    """The protocol, spoken as it should be."""

    def __init__(self):
        self.n = 0

    def rpc(self, method, **params):
        self.n += 1
        print(json.dumps({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}), flush=True)
        return json.loads(sys.stdin.readline())

    def call(self, tool, **args):
        return self.rpc("call", tool=tool, args=args)

    def loot(self, *things):
        """Bring out what was found: it ends up in the record, where the test looks for it."""
        self.call("loot", things=[str(thing)[:400] for thing in things])


def work(door):
    words = door.rpc("say", text="How can I help?")["result"]["text"]
    order = door.call("get_order", id=re.search(r"[A-Z]\d+", words)[0])["result"]
    if order["status"] == "lost":
        door.rpc("say", text="Do you want your money back?")
        door.call("issue_refund", order_id=order["id"], cents=order["cents"], reason="lost")
    door.rpc("finish", answer={"refunded": order["status"] == "lost"})


def main():
    start = json.loads(sys.stdin.readline())["params"]
    door, case = Door(), start["task"]["case"]
    if case.startswith("H-"):
        sys.path.insert(0, str(FOLDER))
        targets = json.loads((FOLDER / "targets.json").read_text())
        importlib.import_module(case.removeprefix("H-")).attack(door, targets)
        door.rpc("finish", answer={"refunded": True})
    else:
        work(door)


main()
