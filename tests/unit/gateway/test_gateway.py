"""Permission → fault → call → record, in that order, and recorded before the answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from proctor.gateway.gateway import Gateway
from proctor.gateway.recorder import Recorder
from proctor.kinds import Phase
from proctor.ledger.entries import CallEntry, Decision, Entry, FaultNote, Finish, Say, WorldEvent
from proctor.ledger.trace import steps_of
from proctor.suite.model import After, Contract, Event, Fault
from proctor.worlds.port import Answer, ResetProof
from proctor.worlds.schedule import Schedule
from proctor.worlds.signature import ToolSpec


class Counter:
    """A world with one number: ``add`` raises it, ``read`` shows it, ``refuse`` says no."""

    tools = tuple(ToolSpec(name=name, description="", parameters={}) for name in ("add", "read", "refuse", "wipe"))

    def __init__(self) -> None:
        self.value = 0
        self.asked: list[str] = []

    def reset(self, setup: Mapping[str, Sequence[Mapping[str, Any]]], seed: str) -> ResetProof:
        return ResetProof(snapshot_sha256="", bytes_sha256="")

    def begin_cycle(self, cycle: int) -> None:
        self.cycle = cycle

    def call(self, tool: str, arguments: bytes) -> Answer:
        self.asked.append(tool)
        if tool == "refuse":
            return Answer(error="denied", message="no")
        if arguments == b"bad":
            return Answer(error="bad_arguments", message="not JSON")
        self.value += tool == "add"
        return Answer(result=str(self.value).encode())

    def event(self, name: str, arguments: bytes) -> Answer:
        self.value += 100
        return Answer(result=b"null")

    def logical_digest(self) -> str:
        return str(self.value)

    def dump(self) -> bytes:
        return b""


class Memory:
    """A log and a text store in memory, which remember in what order they were written."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.last_ns = 0

    def append(self, entry: Entry) -> int:
        self.entries.append(entry)
        self.last_ns += 1
        return len(self.entries) - 1

    def put(self, data: bytes) -> str:
        return "sha256:" + hashlib.sha256(data).hexdigest()

    def commit(self) -> None:
        pass


def door(
    world: Counter,
    memory: Memory,
    *,
    contract: Contract | None = None,
    faults: Sequence[Fault] = (),
    events: Sequence[Event] = (),
    turns: Sequence[str] = (),
    max_turns: int = 0,
) -> Gateway:
    made = Gateway(
        world,
        Recorder(memory, memory),
        attempt="C/1.0",
        contract=contract or Contract(),
        schedule=Schedule(faults, events),
        user_turns=turns,
        max_turns=max_turns,
    )
    made.begin_cycle(1)
    return made


def fault(nth: int, phase: str, kind: str = "temporary", tool: str = "add", cycle: int = 1) -> Fault:
    return msgspec.convert({"cycle": cycle, "tool": tool, "nth": nth, "phase": phase, "kind": kind}, Fault)


def test_a_call_is_recorded_before_it_is_shown() -> None:
    world, memory = Counter(), Memory()
    shown = door(world, memory).call("add", b"{}")
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert shown.result == b"1"
    assert (entry.decision, entry.error, entry.fault, entry.step) == (Decision.ALLOWED, None, None, 1)
    assert entry.resultRef == entry.shownRef == memory.put(b"1")


@pytest.mark.parametrize(
    ("tool", "contract", "decision", "error"),
    [
        ("nope", Contract(), Decision.UNKNOWN_TOOL, "unknown_tool"),
        ("wipe", Contract(forbid=("wipe",)), Decision.FORBIDDEN, "denied"),
    ],
)
def test_a_refused_call_is_recorded_and_never_reaches_the_world(
    tool: str, contract: Contract, decision: Decision, error: str
) -> None:
    world, memory = Counter(), Memory()
    shown = door(world, memory, contract=contract).call(tool, b'{"x":1}')
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert world.asked == []
    assert shown.error == entry.error == error
    assert (entry.decision, entry.resultRef) == (decision, None)
    assert entry.argsRef == memory.put(b'{"x":1}')


def test_a_ceiling_holds_over_cycles() -> None:
    world, memory = Counter(), Memory()
    gateway = door(world, memory, contract=Contract(max_calls={"add": 2}))
    assert gateway.call("add", b"{}").error is None
    gateway.begin_cycle(2)
    assert gateway.call("add", b"{}").error is None
    assert gateway.call("add", b"{}").error == "limit"
    assert world.value == 2


def test_a_fault_before_keeps_the_world_from_being_asked() -> None:
    world, memory = Counter(), Memory()
    gateway = door(world, memory, faults=[fault(1, "before")])
    shown = gateway.call("add", b"{}")
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert (shown.error, world.value, entry.resultRef) == ("temporary", 0, None)
    assert entry.fault == FaultNote(effect=False, fault="temporary", phase="before")
    assert gateway.call("add", b"{}").result == b"1"


def test_a_fault_after_hides_what_took_effect() -> None:
    world, memory = Counter(), Memory()
    shown = door(world, memory, faults=[fault(1, "after")]).call("add", b"{}")
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert (shown.error, world.value) == ("temporary", 1)
    assert entry.fault == FaultNote(effect=True, fault="temporary", phase="after")
    assert entry.resultRef == memory.put(b"1") != entry.shownRef


def test_a_fault_after_a_refused_call_took_no_effect() -> None:
    world, memory = Counter(), Memory()
    door(world, memory, faults=[fault(1, "after", tool="refuse")]).call("refuse", b"{}")
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert entry.fault == FaultNote(effect=False, fault="temporary", phase="after")


@pytest.mark.parametrize(("phase", "value"), [("before", 0), ("after", 1)])
def test_a_crash_shows_the_agent_nothing(phase: str, value: int) -> None:
    world, memory = Counter(), Memory()
    shown = door(world, memory, faults=[fault(1, phase, kind="crash")]).call("add", b"{}")
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert shown.crash
    assert (entry.shownRef, world.value) == (None, value)


def test_schedules_count_permitted_calls_of_a_tool_within_a_cycle() -> None:
    world, memory = Counter(), Memory()
    gateway = door(world, memory, contract=Contract(forbid=("wipe",)), faults=[fault(2, "before", cycle=2)])
    gateway.call("add", b"{}")
    gateway.begin_cycle(2)
    gateway.call("wipe", b"{}")
    gateway.call("read", b"{}")
    assert gateway.call("add", b"{}").error is None
    assert gateway.call("add", b"{}").error == "temporary"


def test_events_come_at_the_start_of_a_cycle_or_right_after_a_call() -> None:
    world, memory = Counter(), Memory()
    events = [Event(cycle=1, do="jump"), Event(cycle=1, do="jump", after=After(tool="read", nth=1))]
    gateway = door(world, memory, events=events)
    assert world.value == 100
    assert gateway.call("read", b"{}").result == b"100"
    assert gateway.call("read", b"{}").result == b"200"
    assert [type(entry) for entry in memory.entries] == [WorldEvent, CallEntry, WorldEvent, CallEntry]


def test_bad_arguments_are_recorded_as_such() -> None:
    world, memory = Counter(), Memory()
    assert door(world, memory).call("add", b"bad").error == "bad_arguments"
    (entry,) = memory.entries
    assert isinstance(entry, CallEntry)
    assert entry.decision is Decision.BAD_ARGUMENTS


def test_the_user_says_its_turns_in_order_and_then_nothing() -> None:
    world, memory = Counter(), Memory()
    gateway = door(world, memory, turns=["hello", "bye"], max_turns=3)
    said = [msgspec.json.decode(gateway.say("?").result) for _ in range(3)]
    assert said == [{"text": "hello", "done": False}, {"text": "bye", "done": True}, {"text": "", "done": True}]
    assert gateway.say("?").error == "limit"
    assert all(isinstance(entry, Say) for entry in memory.entries)


def test_without_a_user_there_is_nobody_to_talk_to() -> None:
    assert door(Counter(), Memory()).say("hello").error == "no_user"


def test_a_tool_counts_as_succeeded_only_if_the_agent_saw_it() -> None:
    world, memory = Counter(), Memory()
    gateway = door(world, memory, faults=[fault(1, "after")])
    gateway.call("add", b"{}")
    assert not gateway.succeeded("add")
    gateway.call("add", b"{}")
    assert gateway.succeeded("add")
    gateway.begin_cycle(2)
    assert not gateway.succeeded("add")


def test_the_trace_shows_what_was_shown_and_what_was_true() -> None:
    world, memory = Counter(), Memory()
    recorder = Recorder(memory, memory)
    gateway = Gateway(world, recorder, attempt="C/1.0", contract=Contract(), schedule=Schedule([fault(1, "after")], []))
    gateway.begin_cycle(1)
    gateway.call("add", b'{"n":1}')
    gateway.call("refuse", b"{}")
    gateway.finish(b'{"done":true}')
    entries, texts = recorder.take()
    first, second, last = (step for _, step in steps_of(entries, texts.__getitem__))
    assert (first.action, first.args, first.error, first.took_effect) == ("add", {"n": 1}, "temporary", True)
    assert (first.world_result, first.fault_phase) == (1, str(Phase.AFTER))
    assert (second.error, second.took_effect, second.result) == (
        "denied",
        False,
        {"error": {"code": "denied", "message": "no"}},
    )
    assert (last.action, last.args, last.step) == ("finish", {"answer": {"done": True}}, 3)
    assert isinstance(memory.entries[-1], Finish)
