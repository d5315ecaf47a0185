"""One cycle: start the agent's process, answer its requests through the gateway until it ends, say how it ended.

Whatever an agent does is an outcome here, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proctor.agents.protocol import (
    EndReason,
    Garbage,
    Request,
    Start,
    error_line,
    read_request,
    result_line,
    start_line,
)
from proctor.agents.stdio import AgentProcess, Ended
from proctor.gateway.gateway import Gateway, Shown
from proctor.ledger.entries import AgentUse

__all__ = ["CycleResult", "run_cycle"]

_EXIT_GRACE_SECONDS = 2.0
MOST_REQUESTS = 100_000
MOST_SHOWN_BYTES = 256 * 1024 * 1024
_ENDS = {"timeout": EndReason.TIMEOUT, "output_limit": EndReason.OUTPUT_LIMIT}


@dataclass(frozen=True, kw_only=True)
class CycleResult:
    """How a cycle ended. ``answer`` is JSON text, None if the agent gave none."""

    reason: EndReason
    detail: str = ""
    exit_status: int | None = None
    answer: bytes | None = None
    stderr: str = ""
    use: AgentUse | None = None


def run_cycle(
    agent: AgentProcess,
    gateway: Gateway,
    start: Start,
    *,
    ends_with: str | None,
    answer_problem: Callable[[bytes], str | None],
) -> CycleResult:
    """Converse until the agent finishes, ends, or is ended. The process is gone when this returns."""
    try:
        agent.send(start_line(start))
        result = _converse(agent, gateway, answer_problem)
    finally:
        status = agent.close(grace_seconds=0.0)
    reason, detail = result.reason, result.detail
    left = agent.remains.survivors
    if reason is EndReason.FINISHED and ends_with is not None and not gateway.succeeded(ends_with):
        reason, detail = EndReason.NOT_ENDED, f"finished without a successful {ends_with}"
    elif reason is EndReason.EXITED:
        reason, detail = _exit_reason(result.exit_status)
    if left:
        detail = (
            f"{detail}; " * bool(detail)
            + f"it left {left} process{'es' * (left > 1)} behind outside its session, ended with it"
        )
    return CycleResult(
        reason=reason,
        detail=detail,
        exit_status=result.exit_status if result.exit_status is not None else status,
        answer=result.answer,
        stderr=agent.stderr_text,
        use=_use(agent),
    )


def _use(agent: AgentProcess) -> AgentUse:
    remains = agent.remains
    return AgentUse(
        alive=remains.alive,
        cpuMs=remains.cpu_ms,
        maxRssBytes=remains.max_rss_bytes,
        survivors=remains.survivors,
        wallMs=agent.wall_ms,
    )


def _exit_reason(status: int | None) -> tuple[EndReason, str]:
    if status == 0:
        return EndReason.EXITED, "the process ended without finish"
    if status is None:
        return EndReason.EXITED, "it closed its output without finish, and had to be ended"
    what = f"signal {-status}" if status < 0 else f"status {status}"
    return EndReason.CRASHED, f"the process ended with {what}"


def _converse(agent: AgentProcess, gateway: Gateway, answer_problem: Callable[[bytes], str | None]) -> CycleResult:
    """Request by request. What an agent asks and is shown is kept in memory until its attempt is over, so both are
    bounded here."""
    shown_bytes = 0
    for _ in range(MOST_REQUESTS):
        received = agent.receive()
        if isinstance(received, Ended):
            if received.why in _ENDS:
                return CycleResult(reason=_ENDS[received.why], detail=received.why.replace("_", " "))
            return CycleResult(reason=EndReason.EXITED, exit_status=agent.close(grace_seconds=_EXIT_GRACE_SECONDS))
        try:
            request = read_request(received.data)
        except Garbage as error:
            agent.send(error_line(b"null", error.code, str(error)))
            return CycleResult(reason=EndReason.GARBAGE, detail=f"{error}; line: {received.data[:120]!r}")
        if request.method == "finish" and request.problem is None:
            finished = _finish(agent, gateway, request, answer_problem)
            if finished is not None:
                return finished
            continue
        reply = _answer(gateway, request)
        if reply is None:
            return CycleResult(reason=EndReason.INJECTED_CRASH, detail="the harness ended the agent on schedule")
        shown_bytes += len(reply)
        if shown_bytes > MOST_SHOWN_BYTES:
            detail = f"output limit: asked for more than {MOST_SHOWN_BYTES:,} bytes"
            return CycleResult(reason=EndReason.OUTPUT_LIMIT, detail=detail)
        agent.send(reply)
    return CycleResult(reason=EndReason.OUTPUT_LIMIT, detail=f"output limit: more than {MOST_REQUESTS:,} requests")


def _finish(
    agent: AgentProcess, gateway: Gateway, request: Request, answer_problem: Callable[[bytes], str | None]
) -> CycleResult | None:
    """The end of the cycle, or None where the answer doesn't fit and the agent may try again."""
    problem = answer_problem(request.body)
    if problem is not None:
        agent.send(error_line(request.id, "bad_answer", problem))
        return None
    gateway.finish(request.body)
    agent.send(result_line(request.id, b"{}"))
    status = agent.close(grace_seconds=_EXIT_GRACE_SECONDS)
    return CycleResult(reason=EndReason.FINISHED, answer=request.body, exit_status=status)


def _answer(gateway: Gateway, request: Request) -> bytes | None:
    """The response's line; None where the schedule says that the agent dies here."""
    if request.problem is not None:
        known = request.method in ("call", "say", "usage", "finish")
        return error_line(request.id, "bad_arguments" if known else "unknown_method", request.problem)
    shown = _carry_out(gateway, request)
    if shown.crash:
        return None
    if shown.error is not None:
        return error_line(request.id, shown.error, shown.message)
    return result_line(request.id, shown.result)


def _carry_out(gateway: Gateway, request: Request) -> Shown:
    if request.method == "call":
        return gateway.call(request.name, request.body)
    if request.method == "usage":
        return gateway.claim_usage(request.body)
    return gateway.say(request.name)
