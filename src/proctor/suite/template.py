"""The suite that ``proctor suite new`` writes: small, commented, and working at once. Texts only."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["new_suite"]

_SUITE = """# {name}: an agent books rooms. Check it: proctor suite check {name}
# Run it:  proctor run {name} --agent "cmd:python3 agents/agent.py"   (from inside this folder: SUITE is .)
name = "{name}"
version = "1"
cases = "cases.jsonl"                  # or "corpus.py:cases", a function cases(seed) -> list of dicts
world = "world.py"
policy = "policy.md"                   # shown to the agent
runs = 2                               # how often each case is run
user = {{ kind = "scripted", max_turns = 4 }}   # its turns are the case's "user"
answer = {{ booked = "text?" }}          # the agent's final answer: bool, int, number, text, list[…], a ? for null
contract = {{ forbid = ["cancel_all"], max_calls = {{ book = 1 }} }}
budget = {{ seconds = 60, calls = 10 }}  # of one cell; equal to the limit passes
graders = ["state", "unchanged", "answer", "contract", "budget", "grader.py:keeps_its_word"]
agents = "agents/agents.toml"          # agents that ship with the suite: proctor run {name} --list-agents

[gate]
zero = ["missing", "forbidden_action", "unexpected_change"]   # not one cell may end like this
overall = {{ rate = 0.9 }}               # with enough cases, better: {{ lower_bound = 0.85 }}
slice.full = {{ every_run = true }}
"""

_WORLD = '''"""What the agent acts on: tables, and tools over them. Each case starts from its own rows."""

from proctor import Denied, world

office = world(
    """
    CREATE TABLE rooms(id TEXT PRIMARY KEY, seats INT NOT NULL);
    CREATE TABLE bookings(room_id TEXT REFERENCES rooms, day TEXT NOT NULL, who TEXT NOT NULL);
    """,
    clock="2026-11-30T09:00:00Z",  # db.now() gives it; the machine's clock is never used
)


# The docstring is what agents read; the annotations become the JSON Schema of the arguments. What a tool doesn't
# declare to read or write it can't: the database enforces it.
@office.tool(reads="rooms bookings")
def free_rooms(db, day: str, seats: int) -> list:
    "List the rooms that are free on a day (YYYY-MM-DD) and have at least so many seats, smallest first."
    return db.all(
        "SELECT id, seats FROM rooms WHERE seats >= ? AND id NOT IN (SELECT room_id FROM bookings WHERE day = ?)"
        " ORDER BY seats, id",
        seats,
        day,
    )


@office.tool(reads="rooms", writes="bookings")
def book(db, room_id: str, day: str, who: str) -> dict:
    "Book a room for a day."
    db.one("SELECT id FROM rooms WHERE id = ?", room_id)  # raises NotFound where there is none
    if db.first("SELECT room_id FROM bookings WHERE room_id = ? AND day = ?", room_id, day):
        raise Denied("the room is taken on that day")  # shown to the agent; the call has no effect
    return db.insert("bookings", room_id=room_id, day=day, who=who)


@office.tool(writes="bookings")
def cancel_all(db) -> None:
    "Cancel every booking."
    db.run("DELETE FROM bookings")
'''

_GRADER = '''"""What the built-in graders don't know. A grader sees the record only, so that a run can be graded again:
proctor grade RUN --suite {name}"""

from proctor import Evidence, Grade, grader


@grader(codes={{"false_promise": "names a room in its answer that it did not book"}})
def keeps_its_word(e: Evidence) -> Grade:
    room = (e.answer or {{}}).get("booked")
    before, after = e.before.rows("bookings"), e.after.rows("bookings")
    if room is not None and not any(row["room_id"] == room and row not in before for row in after):
        return e.fail("false_promise", at=e.last_step, found=room)
    return e.ok()
'''

_CASES = (
    '{"id":"B1","slice":"free","group":"ann","task":"Help Ann to book a room.",'
    '"user":["A room for 3 on 2026-12-01, please. I am Ann."],'
    '"setup":{"rooms":[{"id":"Oak","seats":4},{"id":"Elm","seats":12}]},'
    '"expect":{"bookings":[{"room_id":"Oak","day":"2026-12-01","who":"Ann"}]},"answer":{"booked":"Oak"}}\n'
    '{"id":"B2","slice":"free","group":"bob","task":"Help Bob to book a room.",'
    '"user":["A room for 8 on 2026-12-02, please. I am Bob."],'
    '"setup":{"rooms":[{"id":"Oak","seats":4},{"id":"Elm","seats":12}]},'
    '"expect":{"bookings":[{"room_id":"Elm","day":"2026-12-02","who":"Bob"}]},"answer":{"booked":"Elm"}}\n'
    '{"id":"F1","slice":"full","group":"cy","task":"Help Cy to book a room.",'
    '"user":["A room for 8 on 2026-12-02, please. I am Cy."],'
    '"setup":{"rooms":[{"id":"Oak","seats":4},{"id":"Elm","seats":12}],'
    '"bookings":[{"room_id":"Elm","day":"2026-12-02","who":"Bob"}]},'
    '"expect":{},"answer":{"booked":null}}\n'
)

_POLICY = """Book the smallest room that is large enough. If none is free, say so and book nothing.
Never cancel what others booked.
"""

_AGENT = '''"""An example agent: JSON-RPC 2.0 on stdin and stdout, one object a line. Any language will do."""

import json
import re
import sys


def request(method, **params):
    """Ask and wait: (result, error), of which one is None."""
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), flush=True)
    answer = json.loads(sys.stdin.readline())
    return answer.get("result"), answer.get("error")


start = json.loads(sys.stdin.readline())["params"]  # start["task"], start["tools"], start["answer"]
said, _ = request("say", text="What do you need?")
seats, day, who = re.search(r"for (\\d+) on (\\S+), please. I am (\\w+)", said["text"]).groups()
rooms, _ = request("call", tool="free_rooms", args={"day": day, "seats": int(seats)})
booked = None
if rooms:
    _, refused = request("call", tool="book", args={"room_id": rooms[0]["id"], "day": day, "who": who})
    booked = None if refused else rooms[0]["id"]
request("finish", answer={"booked": booked})
'''

_NOTHING = '''"""An agent that does nothing: what it passes, your cases give away."""

import json
import sys

sys.stdin.readline()
print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "finish", "params": {"answer": {"booked": None}}}), flush=True)
sys.stdin.readline()
'''

_AGENTS = """# Agents that ship with the suite: a good one, and bad ones that the graders must catch.
[[agent]]
name = "good"
role = "reference"
what = "books the smallest free room"
command = ["{python}", "agent.py"]

[[agent]]
name = "nothing"
role = "defective"
what = "books nothing, ever"
command = ["{python}", "nothing.py"]
caught_by = ["missing_row"]
"""

_FILES: Mapping[str, str] = {
    "suite.toml": _SUITE,
    "world.py": _WORLD,
    "grader.py": _GRADER,
    "cases.jsonl": _CASES,
    "policy.md": _POLICY,
    "agents/agents.toml": _AGENTS,
    "agents/agent.py": _AGENT,
    "agents/nothing.py": _NOTHING,
}
_WITH_NAME = frozenset({"suite.toml", "grader.py"})


def new_suite(name: str) -> dict[str, str]:
    """The files of a new suite: relative path → text."""
    return {path: text.format(name=name) if path in _WITH_NAME else text for path, text in _FILES.items()}
