"""An agent as a separate process that speaks the stdio protocol. One process a cycle.

The process gets an empty environment but for a path and a private home, no descriptors but its three pipes, a
session of its own, and ceilings on time and output. What it writes to stderr is kept as a claim, up to a limit. When
the cycle is over everything in its session is ended. Left out: what its requests mean (``runner.cycle``).
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.agents.protocol import LINE_LIMIT
from proctor.clock import Clock
from proctor.sandbox.child import apply_limits

__all__ = ["AgentLimits", "AgentProcess", "Ended", "Line"]

_STDERR_KEPT = 16 * 1024


@dataclass(frozen=True, kw_only=True)
class AgentLimits:
    """Ceilings of one cycle: wall ``seconds``, ``output_bytes`` on stdout, address space and file size."""

    seconds: float = 60.0
    output_bytes: int = 64 * 1024 * 1024
    memory_bytes: int = 8 * 1024**3
    file_bytes: int = 1024**3


@dataclass(frozen=True)
class Line:
    """A whole line, without its end."""

    data: bytes


@dataclass(frozen=True)
class Ended:
    """No line will come any more. ``why``: ``exit``, ``timeout`` or ``output_limit``."""

    why: str


class AgentProcess:
    """A running agent. Raises ``OSError`` if the command can't be started."""

    def __init__(
        self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], limits: AgentLimits, clock: Clock
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._home = tempfile.TemporaryDirectory(prefix="proctor-agent-")
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**environment, "HOME": self._home.name, "TMPDIR": self._home.name},
                start_new_session=True,
                close_fds=True,
                bufsize=0,
            )
        except OSError:
            self._home.cleanup()
            raise
        apply_limits(self._process.pid, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes)
        self._deadline = clock.monotonic() + limits.seconds
        self._pending = bytearray()
        self._read_bytes = 0
        self._stderr = bytearray()
        self._closed = False
        self._status: int | None = None
        self._selector = selectors.DefaultSelector()
        for name, stream in (("stdout", self._process.stdout), ("stderr", self._process.stderr)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream.fileno(), selectors.EVENT_READ, name)
        if self._process.stdin is not None:
            self._stdin = self._process.stdin.fileno()
            os.set_blocking(self._stdin, False)

    def send(self, line: bytes) -> bool:
        """Write a line; False if the agent no longer reads (its end is then seen by ``receive``)."""
        view = memoryview(line)
        while view:
            try:
                view = view[os.write(self._stdin, view) :]
            except BlockingIOError:
                if not self._wait_writable():
                    return False
            except (BrokenPipeError, OSError):
                return False
        return True

    def receive(self) -> Line | Ended:
        """The next line, or why there is none."""
        while True:
            end = self._pending.find(b"\n")
            if end >= 0:
                line = bytes(self._pending[:end])
                del self._pending[: end + 1]
                return Line(line)
            if self._read_bytes > self._limits.output_bytes or len(self._pending) > LINE_LIMIT:
                return Ended("output_limit")
            remaining = self._deadline - self._clock.monotonic()
            if remaining <= 0:
                return Ended("timeout")
            if not self._pump(remaining):
                return Ended("exit")

    def close(self, *, grace_seconds: float = 0.0) -> int | None:
        """End the agent and its session; its exit status, or None if it had to be killed. Twice does no harm."""
        if self._closed:
            return self._status
        self._closed = True
        self._status = self._end(grace_seconds)
        return self._status

    def _end(self, grace_seconds: float) -> int | None:
        status: int | None = None
        if grace_seconds > 0:
            with contextlib.suppress(BrokenPipeError, OSError):
                if self._process.stdin is not None:
                    self._process.stdin.close()
            status = _wait(self._process, grace_seconds)
        else:
            status = self._process.poll()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._drain_stderr()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError, OSError):
                    stream.close()
        self._home.cleanup()
        return status

    @property
    def pid(self) -> int:
        """The agent's process id."""
        return self._process.pid

    @property
    def stderr_text(self) -> str:
        """What it wrote to stderr, up to 16 KiB: a claim."""
        return self._stderr.decode("utf-8", "replace")

    def _wait_writable(self) -> bool:
        """Wait until the agent reads again, taking in meanwhile what it writes, so that neither waits for ever."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            while (remaining := self._deadline - self._clock.monotonic()) > 0:
                if selector.select(min(remaining, 0.05)):
                    return True
                if not self._pump(0.0) or self._read_bytes > self._limits.output_bytes:
                    return False
        return False

    def _pump(self, seconds: float) -> bool:
        """Take in what is there; False once stdout has ended."""
        for key, _ in self._selector.select(seconds):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if key.data == "stdout":
                if not data:
                    return False
                self._pending += data
                self._read_bytes += len(data)
            elif data:
                self._stderr += data[: max(0, _STDERR_KEPT - len(self._stderr))]
            else:
                self._selector.unregister(key.fd)
        return True

    def _drain_stderr(self) -> None:
        stream = self._process.stderr
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 1 << 16):
                self._stderr += data[: max(0, _STDERR_KEPT - len(self._stderr))]


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status, None if the process still runs after that time. Wakes at once where the system can tell."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(ProcessLookupError):
            pidfd = os.pidfd_open(process.pid)
            try:
                select.select([pidfd], [], [], seconds)
            finally:
                os.close(pidfd)
            return process.poll()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(seconds)
    return process.poll()
