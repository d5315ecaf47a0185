"""The one door between an agent and a world: permission → fault → call → record, then the answer.

Every call is recorded before the agent sees what it is shown, refused ones too. The order is fixed: an unknown tool,
a forbidden one and one over its ceiling never reach the world; a fault ``before`` keeps the world from being asked; a
fault ``after`` hides what it answered. The n-th permitted call of a tool within a cycle is what schedules count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from proctor.gateway.recorder import Recorder
from proctor.kinds import Phase
from proctor.ledger.entries import CallEntry, Decision, FaultNote, Finish, Say, UsageClaim, WorldEvent
from proctor.suite.model import Contract, Event, Fault
from proctor.worlds.port import WorldPort
from proctor.worlds.schedule import Schedule

__all__ = ["Gateway", "Shown"]

_encode = msgspec.json.Encoder().encode
_TEMPORARY = "temporary failure; the call may or may not have taken effect"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the agent gets to see: ``result`` (JSON text), or ``error`` with a message. ``crash``: nothing; the
    schedule says that the agent dies here."""

    result: bytes = b"null"
    error: str | None = None
    message: str = ""
    crash: bool = False

    def text(self) -> bytes:
        """As it is kept: the result, or ``{"error": {...}}``."""
        if self.error is None:
            return self.result
        return _encode({"error": {"code": self.error, "message": self.message}})


class Gateway:
    """One attempt's door. Not for sharing between attempts."""

    def __init__(
        self,
        world: WorldPort,
        recorder: Recorder,
        *,
        attempt: str,
        contract: Contract,
        schedule: Schedule,
        user_turns: Sequence[str] = (),
        max_turns: int = 0,
    ) -> None:
        self._world = world
        self._recorder = recorder
        self._attempt = attempt
        self._schedule = schedule
        self._forbidden = frozenset(contract.forbid)
        self._max_calls = contract.max_calls
        self._tools = {tool.name for tool in world.tools}
        self._tool_refs: dict[str, str] = {}
        self._calls: Counter[str] = Counter()
        self._calls_in_cycle: Counter[str] = Counter()
        self._succeeded_in_cycle: set[str] = set()
        self._user_turns = tuple(user_turns)
        self._max_turns = max_turns
        self._turns = 0
        self._step = 0
        self._cycle = 0

    @property
    def n_calls(self) -> int:
        """Permitted calls so far."""
        return self._calls.total()

    def begin_cycle(self, cycle: int) -> None:
        """Start counting anew, and make the changes that are due at the start of the cycle."""
        self._cycle = cycle
        self._calls_in_cycle.clear()
        self._succeeded_in_cycle.clear()
        self._world.begin_cycle(cycle)
        for event in self._schedule.at_start(cycle):
            self._make(event)

    def succeeded(self, tool: str) -> bool:
        """Whether a call of this tool was shown to succeed in the present cycle."""
        return tool in self._succeeded_in_cycle

    def call(self, tool: str, arguments: bytes) -> Shown:
        """Carry out a request: ``arguments`` is the exact JSON text received."""
        refusal = self._refusal(tool)
        if refusal is not None:
            decision, shown = refusal
            self._record(tool, arguments, decision, shown)
            return shown
        self._calls[tool] += 1
        self._calls_in_cycle[tool] += 1
        nth = self._calls_in_cycle[tool]
        fault = self._schedule.fault(self._cycle, tool, nth)
        shown = self._permitted(tool, arguments, fault)
        if shown.error is None and not shown.crash:
            self._succeeded_in_cycle.add(tool)
        for event in self._schedule.after(self._cycle, tool, nth):
            self._make(event)
        return shown

    def say(self, text: str) -> Shown:
        """Speak to the user: the next scripted turn. Past the last one it says nothing more."""
        if not self._max_turns:
            return Shown(error="no_user", message="there is no user to talk to in this task")
        if self._turns >= self._max_turns:
            return Shown(error="limit", message=f"the user left after {self._max_turns} turns")
        reply = self._user_turns[self._turns] if self._turns < len(self._user_turns) else ""
        self._turns += 1
        done = self._turns >= len(self._user_turns)
        self._step += 1
        self._recorder.record(
            Say(
                attempt=self._attempt,
                cycle=self._cycle,
                done=done,
                replyRef=self._recorder.text(reply.encode()),
                step=self._step,
                textRef=self._recorder.text(text.encode()),
            )
        )
        return Shown(result=_encode({"text": reply, "done": done}))

    def claim_usage(self, claim: bytes) -> Shown:
        """Record a model request as the agent tells it (JSON text): a claim, and no step of the trace."""
        reference = self._recorder.text(claim)
        self._recorder.record(UsageClaim(attempt=self._attempt, claimRef=reference, cycle=self._cycle))
        return Shown(result=b"{}")

    def finish(self, answer: bytes) -> None:
        """Record the agent's final answer (JSON text): a claim."""
        self._step += 1
        self._recorder.record(
            Finish(answerRef=self._recorder.text(answer), attempt=self._attempt, cycle=self._cycle, step=self._step)
        )

    def _refusal(self, tool: str) -> tuple[Decision, Shown] | None:
        if tool not in self._tools:
            return Decision.UNKNOWN_TOOL, Shown(error="unknown_tool", message=f"there is no tool {tool[:80]!r}")
        if tool in self._forbidden:
            return Decision.FORBIDDEN, Shown(error="denied", message=f"the contract forbids {tool}")
        ceiling = self._max_calls.get(tool)
        if ceiling is not None and self._calls[tool] >= ceiling:
            return Decision.OVER_LIMIT, Shown(error="limit", message=f"{tool} may be called {ceiling} times")
        return None

    def _permitted(self, tool: str, arguments: bytes, fault: Fault | None) -> Shown:
        if fault is not None and fault.phase is Phase.BEFORE:
            note = FaultNote(effect=False, fault=fault.kind, phase=str(fault.phase))
            shown = self._struck(fault)
            self._record(tool, arguments, Decision.ALLOWED, shown, note=note)
            return shown
        answer = self._world.call(tool, arguments)
        decision = Decision.BAD_ARGUMENTS if answer.error == "bad_arguments" else Decision.ALLOWED
        plain = Shown(result=answer.result or b"null", error=answer.error, message=answer.message)
        if fault is None:
            self._record(tool, arguments, decision, plain, answered=plain)
            return plain
        note = FaultNote(effect=answer.error is None, fault=fault.kind, phase=str(fault.phase))
        shown = self._struck(fault)
        self._record(tool, arguments, decision, shown, answered=plain, note=note)
        return shown

    @staticmethod
    def _struck(fault: Fault) -> Shown:
        return Shown(crash=True) if fault.kind == "crash" else Shown(error="temporary", message=_TEMPORARY)

    def _record(
        self,
        tool: str,
        arguments: bytes,
        decision: Decision,
        shown: Shown,
        *,
        answered: Shown | None = None,
        note: FaultNote | None = None,
    ) -> None:
        self._step += 1
        text = self._recorder.text
        result = None if answered is None else text(answered.text())
        self._recorder.record(
            CallEntry(
                argsRef=text(arguments),
                attempt=self._attempt,
                cycle=self._cycle,
                decision=decision,
                error=shown.error,
                fault=note,
                resultRef=result,
                shownRef=None if shown.crash else result if shown is answered else text(shown.text()),
                step=self._step,
                toolRef=self._tool_ref(tool),
            )
        )

    def _tool_ref(self, tool: str) -> str:
        """One commitment a tool and attempt is enough for a name from the suite; other names come from the agent."""
        if tool not in self._tools:
            return self._recorder.text(tool.encode())
        if tool not in self._tool_refs:
            self._tool_refs[tool] = self._recorder.text(tool.encode())
        return self._tool_refs[tool]

    def _make(self, event: Event) -> None:
        arguments = _encode(event.args)
        self._step += 1
        self._recorder.record(
            WorldEvent(
                argsRef=self._recorder.text(arguments),
                attempt=self._attempt,
                cycle=self._cycle,
                event=event.do,
                step=self._step,
            )
        )
        self._world.event(event.do, arguments)
