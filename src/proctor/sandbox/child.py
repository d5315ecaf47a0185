"""Child processes for a suite's own code: worlds, graders and generators, each apart from the supervisor.

A child is a fresh, isolated interpreter (``-I``: no user site, no working directory on the path) with an empty
environment, no inherited descriptors but its pipes, a session of its own, and limits on memory and file size. It
answers one request at a time over framed messages. Left out: sandboxing of agents.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar

import msgspec

from proctor.codec.frames import read_frame, write_frame
from proctor.errors import EvidenceError, InfrastructureError, Place, ProctorError, SuiteError

__all__ = ["Child", "Fault", "apply_limits", "serve"]

T = TypeVar("T")
_ERRORS: dict[str, type[ProctorError]] = {
    "SuiteError": SuiteError,
    "EvidenceError": EvidenceError,
    "InfrastructureError": InfrastructureError,
}
_PARENT_CHECK_SECONDS = 1.0
_MEMORY_BYTES = 8 * 1024**3
_FILE_BYTES = 1024**3


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """An error on its way out of a child; raised again in the parent as the same family."""

    family: str
    problem: str
    code: str | None = None
    expected: str | None = None
    found: str | None = None
    fix: str | None = None
    file: str | None = None
    line: int | None = None
    field: str | None = None

    @classmethod
    def of(cls, error: ProctorError) -> Fault:
        """The same facts, ready to travel."""
        family = next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), "InfrastructureError")
        place = error.place or Place()
        return cls(
            family=family,
            problem=error.problem,
            code=error.code,
            expected=error.expected,
            found=error.found,
            fix=error.fix,
            file=place.file,
            line=place.line,
            field=place.field,
        )

    def raise_again(self) -> NoReturn:
        """Raise it in the parent."""
        raise _ERRORS[self.family](
            self.problem,
            place=Place(self.file, self.line, self.field),
            expected=self.expected,
            found=self.found,
            fix=self.fix,
            code=self.code,
        )


class _Reply(msgspec.Struct, frozen=True, array_like=True):
    value: bytes | None
    fault: Fault | None


_pack = msgspec.msgpack.Encoder().encode


class Child:
    """A running child. Close it, or use it as a context; it dies with its pipes in any case."""

    def __init__(self, module: str, arguments: list[str], *, what: str, timeout_seconds: float = 60.0) -> None:
        self._what = what
        self._timeout = timeout_seconds
        self._home = tempfile.TemporaryDirectory(prefix="proctor-child-", ignore_cleanup_errors=True)
        root = str(Path(__file__).resolve().parents[2])
        program = (
            f"import sys; sys.path.insert(0, {root!r}); sys.dont_write_bytecode = True; "
            f"from {module} import main; main(sys.argv[1:])"
        )
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=self._home.name,
            env={"PATH": os.defpath, "HOME": self._home.name, "LANG": "C.UTF-8", "TZ": "UTC"},
            start_new_session=True,
            close_fds=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise InfrastructureError(f"{what} started without pipes", code="child")
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        apply_limits(self._process.pid, memory_bytes=_MEMORY_BYTES, file_bytes=_FILE_BYTES)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, method: str, *arguments: Any, reply: type[T]) -> T:
        """Send a request and wait for its answer. Raises what the child raised, or ``InfrastructureError``; and
        ``SuiteError`` for arguments that can't be handed over."""
        try:
            request = _pack((method, arguments))
        except (OverflowError, TypeError, ValueError) as error:
            raise SuiteError(
                f"{self._what} can't be given this value: {error}",
                expected="texts, finite numbers, and integers within 64 bits",
                code="value",
            ) from error
        try:
            write_frame(self._in, request)
            frame = read_frame(self._out, timeout_seconds=self._timeout)
        except (BrokenPipeError, InfrastructureError) as error:
            self.kill()
            raise InfrastructureError(
                f"{self._what} did not answer {method}: {error}", found=self._last_words(), code="child"
            ) from error
        if frame is None:
            self.kill()
            raise InfrastructureError(f"{self._what} ended unasked", found=self._last_words(), code="child")
        try:
            answer = msgspec.msgpack.decode(frame, type=_Reply)
            if answer.fault is not None:
                answer.fault.raise_again()
            return msgspec.msgpack.decode(answer.value or b"\xc0", type=reply)
        except msgspec.MsgspecError as error:
            self.kill()
            raise InfrastructureError(f"{self._what} answered {method} with nonsense: {error}", code="child") from error

    def kill(self) -> None:
        """End it and everything in its session, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End it; its temporary folder goes with it."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._stderr.close()
        self._home.cleanup()

    def _last_words(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - 2000))
        text = self._stderr.read().decode("utf-8", "replace").strip()
        return text.splitlines()[-1] if text else f"exit status {self._process.poll()}"


def apply_limits(pid: int, *, memory_bytes: int, file_bytes: int) -> None:
    """Set ceilings on a process from outside, where the system can (Linux); elsewhere it runs without them."""
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:
        return
    ceilings = ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_FSIZE, file_bytes), (resource.RLIMIT_CORE, 0))
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for kind, ceiling in ceilings:
            hard = prlimit(pid, kind)[1]  # a lower one that already holds may not be raised
            limit = ceiling if hard == resource.RLIM_INFINITY else min(ceiling, hard)
            prlimit(pid, kind, (limit, limit))


def serve(load: Callable[[], Mapping[str, Callable[..., Any]]]) -> None:
    """The child's side: load the suite's code, then answer requests on stdin/stdout until the parent closes the pipe.

    Loading starts at once, so that it goes on while the parent does something else; what it raises is the answer to
    every request. What the suite's code prints goes to stderr, so that it can't be taken for an answer. Where the
    parent is killed while the suite's code runs on, the child ends too; a copy of itself that the suite's code forks
    ends where it would answer, for two answers to one request would be taken for those of two.
    """
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    os.register_at_fork(after_in_child=_Copy.mark)
    requests = os.dup(0)
    answers = os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    methods, broken = _answer(load)
    _Copy.end()
    while (frame := read_frame(requests)) is not None:
        method, arguments = msgspec.msgpack.decode(frame)
        fault = broken
        value: bytes | None = None
        if methods is not None:
            value, fault = _answer(lambda: _pack(methods[method](*arguments)))  # noqa: B023 - called before the next turn
        _Copy.end()
        write_frame(answers, _pack(_Reply(value=value, fault=fault)))


class _Copy:
    """Whether this process is a copy that the suite's code forked."""

    _forked: ClassVar[bool] = False

    @classmethod
    def mark(cls) -> None:
        """Called in each new copy."""
        cls._forked = True

    @classmethod
    def end(cls) -> None:
        """End a copy at once, without any of the clearing up that belongs to the process it was made of."""
        if cls._forked:
            os._exit(0)


def _end_with_parent(parent: int) -> None:
    """End this process, whatever it is doing, once its parent is gone: a loop in a suite's code reads no pipe."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)


def _answer(action: Callable[[], T]) -> tuple[T | None, Fault | None]:
    """What an action gives, or its error ready to travel: a suite's code may raise anything."""
    try:
        return action(), None
    except ProctorError as error:
        return None, Fault.of(error)
    except Exception as error:  # noqa: BLE001
        problem = f"{type(error).__name__}: {error}"
        return None, Fault(family="InfrastructureError", problem=problem, code="suite_code")
