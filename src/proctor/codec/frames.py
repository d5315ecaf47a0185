"""Messages between Proctor's own processes: a length in four bytes (big-endian), then that many bytes.

Left out: what the bytes mean. The reader refuses a length above its limit before it reserves memory for it.
"""

from __future__ import annotations

import os
import select
import struct

from proctor.errors import InfrastructureError

__all__ = ["FRAME_LIMIT", "read_frame", "write_frame"]

FRAME_LIMIT = 256 * 1024 * 1024
_LENGTH = struct.Struct(">I")


def write_frame(fd: int, data: bytes) -> None:
    """Write one message, whole. Raises ``BrokenPipeError`` if nobody reads any more."""
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(fd, view) :]


def read_frame(fd: int, *, timeout_seconds: float | None = None) -> bytes | None:
    """The next message, or None at the end of the stream.

    Raises ``InfrastructureError``: ``timeout`` when nothing came in time, ``frame`` for a cut or oversized message.
    """
    head = _read_exactly(fd, _LENGTH.size, timeout_seconds)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > FRAME_LIMIT:
        raise InfrastructureError(f"a message of {length:,} bytes; at most {FRAME_LIMIT:,}", code="frame")
    body = _read_exactly(fd, length, timeout_seconds)
    if body is None:
        raise InfrastructureError("a message was cut short", code="frame")
    return body


def _read_exactly(fd: int, n: int, timeout_seconds: float | None) -> bytes | None:
    parts: list[bytes] = []
    missing = n
    while missing:
        if timeout_seconds is not None and not select.select([fd], [], [], timeout_seconds)[0]:
            raise InfrastructureError(f"no answer within {timeout_seconds:g} s", code="timeout")
        part = os.read(fd, min(missing, 1 << 20))
        if not part:
            if parts:
                raise InfrastructureError("a message was cut short", code="frame")
            return None
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
