"""An agent as a separate process that speaks the stdio protocol. One process a cycle.

The process gets an empty environment but for a path and a private home, no descriptors but its three pipes, a
session of its own, and ceilings on time and output. What it writes to stderr is kept as a claim, up to a limit. When
the cycle is over everything in its session is ended. Left out: what its requests mean (``runner.cycle``).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from proctor.agents.protocol import LINE_LIMIT
from proctor.agents.resolve import AgentCommand
from proctor.clock import Clock
from proctor.sandbox.child import apply_limits
from proctor.sandbox.tiers import IsolatedAgents

__all__ = ["AgentLimits", "AgentProcess", "Ended", "Line"]

_STDERR_KEPT = 16 * 1024
_STDERR_READS = 64
_LOOK_EVERY_SECONDS = 0.25


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

    def __init__(self, command: AgentCommand, *, isolation: IsolatedAgents, limits: AgentLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._home = tempfile.TemporaryDirectory(prefix="proctor-agent-", ignore_cleanup_errors=True)
        launch = isolation.launch(
            command.argv, folder=command.folder, environment=command.environment, home=Path(self._home.name)
        )
        try:
            self._process = subprocess.Popen(
                list(launch.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=command.folder,
                env=dict(launch.environment),
                pass_fds=launch.inherited,
                start_new_session=True,
                close_fds=True,
                bufsize=0,
            )
        except OSError:
            self._home.cleanup()
            raise
        finally:
            for fd in launch.inherited:
                os.close(fd)
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
            except OSError:
                return False
        return True

    def receive(self) -> Line | Ended:
        """The next line, or why there is none. Limits come first: buffered lines don't outlive the deadline."""
        while True:
            if self._read_bytes > self._limits.output_bytes:
                return Ended("output_limit")
            remaining = self._deadline - self._clock.monotonic()
            if remaining <= 0:
                return Ended("timeout")
            end = self._pending.find(b"\n", 0, LINE_LIMIT + 1)
            if end >= 0:
                line = bytes(self._pending[:end])
                del self._pending[: end + 1]
                return Line(line)
            if len(self._pending) > LINE_LIMIT:
                return Ended("output_limit")
            if not self._pump(min(remaining, _LOOK_EVERY_SECONDS)):
                return Ended("exit")

    def close(self, *, grace_seconds: float = 0.0) -> int | None:
        """End the agent and its session; its exit status, or None if it had to be killed. Twice does no harm."""
        if self._closed:
            return self._status
        self._closed = True
        self._status = self._end(grace_seconds)
        return self._status

    def _end(self, grace_seconds: float) -> int | None:
        status = self._process.poll()
        if status is None and grace_seconds > 0:
            with contextlib.suppress(OSError):
                if self._process.stdin is not None:
                    self._process.stdin.close()
            status = self._wait(grace_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._drain_stderr()
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._home.cleanup()
        return status

    def _wait(self, seconds: float) -> int | None:
        """The exit status, if the agent ends within ``seconds``. What it still writes is taken in, so that a full
        pipe can't keep it from ending. Where the system tells of a process's end (Linux), nothing is polled."""
        until = self._clock.monotonic() + seconds
        end = _end_descriptor(self._process.pid)
        if end is not None:
            self._selector.register(end, selectors.EVENT_READ, "end")
        try:
            while self._process.poll() is None and (remaining := until - self._clock.monotonic()) > 0:
                for key, _ in self._selector.select(remaining if end is not None else min(remaining, 0.005)):
                    if key.data != "end":
                        self._take_rest(key.fd, key.data)
        finally:
            if end is not None:
                self._selector.unregister(end)
                os.close(end)
        return self._process.poll()

    def _take_rest(self, fd: int, name: str) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(fd, 1 << 16)
            if not data:
                self._selector.unregister(fd)
            elif name == "stderr":
                self._keep_stderr(data)

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
        """Take in what is there. False once nothing more will come: stdout has ended, or the agent is gone and what
        it wrote is read (a process that it left behind may hold the pipe open for ever)."""
        gone = self._process.poll() is not None
        ready = self._selector.select(0.0 if gone else seconds)
        for key, _ in ready:
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
                self._keep_stderr(data)
            else:
                self._selector.unregister(key.fd)
        return bool(ready) or not gone

    def _keep_stderr(self, data: bytes) -> None:
        self._stderr += data[: max(0, _STDERR_KEPT - len(self._stderr))]

    def _drain_stderr(self) -> None:
        """What is left of stderr; at most a bounded number of reads, since a process that escaped may go on."""
        stream = self._process.stderr
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            for _ in range(_STDERR_READS):
                data = os.read(stream.fileno(), 1 << 16)
                if not data:
                    return
                self._keep_stderr(data)


def _end_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, where there is such a thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
