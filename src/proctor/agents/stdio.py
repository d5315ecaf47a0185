"""An agent as a separate process that speaks the stdio protocol. One process a cycle.

The process gets an empty environment but for a path and a private home, no descriptors but its three pipes, a
session of its own, and ceilings on time and output. What it writes to stderr is kept as a claim, up to a limit. When
the cycle is over everything that came of it is ended, also what had left its session (``sandbox.launcher``). Left
out: what its requests mean (``runner.cycle``).
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import tempfile
from dataclasses import dataclass
from pathlib import Path

from proctor.agents.protocol import LINE_LIMIT
from proctor.agents.resolve import AgentCommand
from proctor.clock import Clock
from proctor.sandbox.launcher import Remains
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
        self._launcher = isolation.launcher
        self._home = tempfile.TemporaryDirectory(prefix="proctor-agent-", ignore_cleanup_errors=True)
        launch = isolation.launch(
            command.argv,
            folder=command.folder,
            environment=command.environment,
            home=Path(self._home.name),
            ceilings={"RLIMIT_AS": limits.memory_bytes, "RLIMIT_FSIZE": limits.file_bytes, "RLIMIT_CORE": 0},
        )
        theirs, ours = _pipes()
        self._stdin, self._stdout, self._stderr_pipe = ours
        try:
            self.pid = self._launcher.start(launch, folder=command.folder, streams=theirs)
        except BaseException:
            for fd in ours:
                os.close(fd)
            self._home.cleanup()
            raise
        finally:
            for fd in (*theirs, *launch.inherited.values()):
                os.close(fd)
        self._end_fd = _end_descriptor(self.pid)
        self._started = clock.monotonic()
        self._deadline = self._started + limits.seconds
        self._pending = bytearray()
        self._read_bytes = 0
        self._stderr = bytearray()
        self._stdin_open = True
        self._remains: Remains | None = None
        self.wall_ms = 0
        self._selector = selectors.DefaultSelector()
        for name, fd in (("stdout", self._stdout), ("stderr", self._stderr_pipe)):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, name)
        os.set_blocking(self._stdin, False)

    def send(self, line: bytes) -> bool:
        """Write a line; False if the agent no longer reads (its end is then seen by ``receive``)."""
        if not self._stdin_open:
            return False
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
        """End the agent and all that came of it; its exit status, None if it had to be killed. Twice does no harm."""
        if self._remains is None:
            self._remains = self._end(grace_seconds)
        return self._remains.status

    @property
    def remains(self) -> Remains:
        """How it ended, and what it used; of one that is running, nothing."""
        return self._remains or Remains(status=None)

    def _end(self, grace_seconds: float) -> Remains:
        if grace_seconds > 0 and not self._is_gone():
            self._close_stdin()
            self._wait(grace_seconds)
        remains = self._launcher.end()
        self.wall_ms = int((self._clock.monotonic() - self._started) * 1000)
        self._drain_stderr()
        self._selector.close()
        self._close_stdin()
        for fd in (self._stdout, self._stderr_pipe, self._end_fd):
            if fd is not None:
                os.close(fd)
        self._home.cleanup()
        return remains

    def _close_stdin(self) -> None:
        if self._stdin_open:
            self._stdin_open = False
            os.close(self._stdin)

    def _is_gone(self) -> bool:
        """Whether the agent itself has ended (what it left behind may go on)."""
        if self._end_fd is None:
            return self._launcher.poll()
        return bool(select.select([self._end_fd], [], [], 0)[0])

    def _wait(self, seconds: float) -> None:
        """Wait for the agent's end. What it still writes is taken in, so that a full pipe can't keep it from ending.
        Where the system tells of a process's end (Linux), nothing is polled."""
        until = self._clock.monotonic() + seconds
        if self._end_fd is not None:
            self._selector.register(self._end_fd, selectors.EVENT_READ, "end")
        try:
            while not self._is_gone() and (remaining := until - self._clock.monotonic()) > 0:
                for key, _ in self._selector.select(remaining if self._end_fd is not None else min(remaining, 0.005)):
                    if key.data != "end":
                        self._take_rest(key.fd, key.data)
        finally:
            if self._end_fd is not None:
                self._selector.unregister(self._end_fd)

    def _take_rest(self, fd: int, name: str) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(fd, 1 << 16)
            if not data:
                self._selector.unregister(fd)
            elif name == "stderr":
                self._keep_stderr(data)

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
        gone = self._is_gone()
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
        with contextlib.suppress(OSError, ValueError):
            for _ in range(_STDERR_READS):
                data = os.read(self._stderr_pipe, 1 << 16)
                if not data:
                    return
                self._keep_stderr(data)


def _pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """``(theirs, ours)``: the ends of stdin, stdout and stderr."""
    stdin, our_in = os.pipe()
    our_out, stdout = os.pipe()
    our_err, stderr = os.pipe()
    return (stdin, stdout, stderr), (our_in, our_out, our_err)


def _end_descriptor(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends, where there is such a thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
