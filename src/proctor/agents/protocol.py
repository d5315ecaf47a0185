"""The stdio protocol as values: JSON-RPC 2.0, one JSON object a line. Pure: bytes in, messages out.

The supervisor sends ``start`` (a notification). The agent requests ``call {tool, args}``, ``say {text}``,
``usage {request_id, provider, model, raw_usage}`` and ``finish {answer}``. Anything else is answered
with an error or, where it is no JSON-RPC at all, ends the cycle.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

from proctor.codec.json_strict import Limits, parse_json
from proctor.errors import InputError

__all__ = [
    "ERROR_NUMBERS",
    "LINE_LIMIT",
    "PROTOCOL",
    "EndReason",
    "Garbage",
    "Request",
    "Start",
    "Task",
    "error_line",
    "read_request",
    "result_line",
    "start_line",
]

PROTOCOL = "proctor.agent/1"
LINE_LIMIT = 4 * 1024 * 1024
_ID_LIMIT = 200
_LIMITS = Limits(max_bytes=LINE_LIMIT)

ERROR_NUMBERS = {
    "denied": -32001,
    "forbidden": -32001,
    "temporary": -32002,
    "not_found": -32003,
    "conflict": -32004,
    "limit": -32005,
    "bad_arguments": -32602,
    "bad_answer": -32602,
    "unknown_tool": -32602,
    "no_user": -32601,
    "unknown_method": -32601,
    "parse_error": -32700,
    "invalid_request": -32600,
}
"""Error code → JSON-RPC number. Only ``temporary`` may be tried again."""


class EndReason(StrEnum):
    """How an agent's process ended a cycle."""

    FINISHED = "finished"
    NOT_ENDED = "not_ended"
    EXITED = "exited"
    CRASHED = "crashed"
    GARBAGE = "garbage"
    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output_limit"
    INJECTED_CRASH = "injected_crash"
    NOT_STARTED = "not_started"


class Garbage(Exception):
    """A line that is no request: the cycle ends. ``code`` is ``parse_error`` or ``invalid_request``."""

    def __init__(self, message: str, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.code = code


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent is asked to do."""

    case: str
    text: str
    policy: str | None
    input: Any


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of ``start``."""

    protocol: str
    task: Task
    cycle: int
    cycles: int
    tools: tuple[dict[str, Any], ...]
    answer: dict[str, Any] | None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request of the agent's. ``id`` is its JSON text, to be given back as it came; ``name`` is the tool or the
    text; ``body`` is the exact JSON text of the arguments or the answer."""

    id: bytes
    method: str
    name: str = ""
    body: bytes = b"null"
    problem: str | None = None


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    method: str
    id: msgspec.Raw = msgspec.Raw(b"")
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    tool: str
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Say(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class _Usage(msgspec.Struct, forbid_unknown_fields=True):
    request_id: str
    provider: str
    model: str | None = None
    raw_usage: dict[str, Any] | None = None


class _Finish(msgspec.Struct, forbid_unknown_fields=True):
    answer: msgspec.Raw = msgspec.Raw(b"null")


_envelope = msgspec.json.Decoder(_Envelope)
_call = msgspec.json.Decoder(_Call)
_say = msgspec.json.Decoder(_Say)
_finish = msgspec.json.Decoder(_Finish)
_usage = msgspec.json.Decoder(_Usage)
_encode = msgspec.json.Encoder().encode


def read_request(line: bytes) -> Request:
    """A request from one line. Raises ``Garbage`` for what is no JSON-RPC request.

    The whole line must be strict JSON (each key once, finite numbers, at most 128 levels), since what it says is
    recorded and read again. A request whose parameters don't fit comes back with ``problem`` set and is answered
    with −32602.
    """
    try:
        parse_json(line, limits=_LIMITS)
    except InputError as error:
        raise Garbage(f"not strict JSON: {error.message}", "parse_error") from None
    try:
        envelope = _envelope.decode(line)
    except (ValueError, msgspec.MsgspecError) as error:
        raise Garbage(f"not a JSON-RPC 2.0 request: {error}") from None
    identity = bytes(envelope.id)
    if not identity or identity[:1] not in b'"-0123456789' or len(identity) > _ID_LIMIT:
        raise Garbage(f"a request needs an id that is a number or a text of at most {_ID_LIMIT} bytes")
    params = bytes(envelope.params)
    try:
        if envelope.method == "call":
            call = _call.decode(params)
            return Request(id=identity, method="call", name=call.tool, body=bytes(call.args))
        if envelope.method == "say":
            return Request(id=identity, method="say", name=_say.decode(params).text)
        if envelope.method == "usage":
            return Request(id=identity, method="usage", body=_encode(_usage.decode(params)))
        if envelope.method == "finish":
            return Request(id=identity, method="finish", body=bytes(_finish.decode(params).answer))
    except msgspec.MsgspecError as error:
        return Request(id=identity, method=envelope.method, problem=str(error))
    return Request(id=identity, method=envelope.method, problem="unknown method")


def start_line(start: Start) -> bytes:
    """The first line an agent reads."""
    return _encode({"jsonrpc": "2.0", "method": "start", "params": start}) + b"\n"


def result_line(identity: bytes, result: bytes) -> bytes:
    """A response; ``result`` is JSON text."""
    return b'{"jsonrpc":"2.0","id":' + identity + b',"result":' + result + b"}\n"


def error_line(identity: bytes, code: str, message: str) -> bytes:
    """An error response with its stable code."""
    error = {
        "code": ERROR_NUMBERS.get(code, -32000),
        "message": message,
        "data": {"code": code, "retryable": code == "temporary"},
    }
    return b'{"jsonrpc":"2.0","id":' + identity + b',"error":' + _encode(error) + b"}\n"
