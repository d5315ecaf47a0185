"""The trace: a view of the ledger, one event a line, the same shape for every suite.

``steps_of`` turns a worker's log entries and their texts into typed steps; ``trace_row`` is a step as a JSON object of
``traces/<case>.<run>.jsonl``. The runner writes the trace with them and verification makes it again with them, so the
two can be compared byte by byte. Left out: reading logs and files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from proctor.clock import utc_text
from proctor.ledger.entries import CallEntry, Entry, Finish, Say, WorldEvent

__all__ = ["Step", "steps_of", "trace_row"]

_decode = msgspec.json.Decoder().decode


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the trace.

    ``step`` counts from 1 within the attempt; ``event`` is the entry's number in the worker's log. ``actor`` is
    ``agent`` (a call, or its final answer), ``user`` (an exchange) or ``world`` (a scheduled change).
    ``decision`` is the gateway's (``allowed``, ``forbidden``, ``over_limit``, ``unknown_tool``,
    ``bad_arguments``). ``result`` is what the agent was shown; ``world_result`` what the world really answered,
    which differs where a fault struck. ``fault_phase`` is ``before`` or ``after`` the effect. ``took_effect``
    says whether the world carried the call out.
    """

    step: int
    event: int
    cycle: int
    actor: str
    action: str
    args: Any
    result: Any
    decision: str = "allowed"
    error: str | None = None
    fault: str | None = None
    fault_phase: str | None = None
    took_effect: bool = True
    world_result: Any = None
    at: str = ""


def steps_of(entries: Iterable[tuple[int, int, Entry]], text: Callable[[str], bytes]) -> Iterator[tuple[str, Step]]:
    """``(attempt, step)`` for every entry that is a step; ``text`` gives a commitment's bytes.

    ``entries`` are ``(seq, tNs, entry)`` in the log's order.
    """
    for seq, at_ns, entry in entries:
        at = utc_text(at_ns)
        if isinstance(entry, CallEntry):
            yield entry.attempt, _call(entry, seq, at, text)
        elif isinstance(entry, WorldEvent):
            yield (
                entry.attempt,
                Step(
                    step=entry.step,
                    event=seq,
                    cycle=entry.cycle,
                    actor="world",
                    action=entry.event,
                    args=_decode(text(entry.argsRef)),
                    result=None,
                    at=at,
                ),
            )
        elif isinstance(entry, Say):
            yield (
                entry.attempt,
                Step(
                    step=entry.step,
                    event=seq,
                    cycle=entry.cycle,
                    actor="user",
                    action="say",
                    args={"text": text(entry.textRef).decode()},
                    result={"text": text(entry.replyRef).decode(), "done": entry.done},
                    at=at,
                ),
            )
        elif isinstance(entry, Finish):
            yield (
                entry.attempt,
                Step(
                    step=entry.step,
                    event=seq,
                    cycle=entry.cycle,
                    actor="agent",
                    action="finish",
                    args={"answer": _decode(text(entry.answerRef))},
                    result={},
                    at=at,
                ),
            )


def _call(entry: CallEntry, seq: int, at: str, text: Callable[[str], bytes]) -> Step:
    world_result = None if entry.resultRef is None else _decode(text(entry.resultRef))
    refused = isinstance(world_result, dict) and "error" in world_result and entry.error is not None
    struck = entry.fault is not None
    return Step(
        step=entry.step,
        event=seq,
        cycle=entry.cycle,
        actor="agent",
        action=text(entry.toolRef).decode(),
        args=_decode(text(entry.argsRef)),
        result=None if entry.shownRef is None else _decode(text(entry.shownRef)),
        decision=str(entry.decision),
        error=entry.error,
        fault=entry.fault.fault if entry.fault else None,
        fault_phase=entry.fault.phase if entry.fault else None,
        took_effect=entry.fault.effect if struck and entry.fault else entry.resultRef is not None and not refused,
        world_result=world_result,
        at=at,
    )


def trace_row(run_id: str, case_id: str, run: int, attempt: str, step: Step) -> dict[str, Any]:
    """A step as a JSON object: the nine fields every trace has, then what Proctor adds."""
    return {
        "run_id": run_id,
        "task_id": f"{case_id}/{run}",
        "case_id": case_id,
        "step": step.step,
        "actor": step.actor,
        "action": step.action,
        "args": step.args,
        "result": step.result,
        "at": step.at,
        "attempt": attempt,
        "cycle": step.cycle,
        "event": step.event,
        "decision": step.decision,
        "error": step.error,
        "fault": step.fault,
        "fault_phase": step.fault_phase,
        "took_effect": step.took_effect,
        "world_result": step.world_result,
    }
