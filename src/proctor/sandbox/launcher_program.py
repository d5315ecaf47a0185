"""The launcher's own program: starts one agent at a time and ends everything that came of it. Standard library only.

``python -I -S launcher_program.py FD`` reads requests from the socket FD. It is a process of its own, with one thread,
so that limits can be set between fork and exec; and it adopts whatever its descendants leave behind (Linux:
``PR_SET_CHILD_SUBREAPER``), so that a process which forked twice and left its session is still found, ended and
accounted for. When the socket closes, for whatever reason, it ends all of them and itself. Left out: what isolation is
made of; a request says what to start.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from typing import Any

_SET_CHILD_SUBREAPER = 36
_HEADER_BYTES = 4
_MOST_DESCRIPTORS = 16
_ROUNDS = 2_000
_STEP_SECONDS = 0.001
_HAS_CHILDREN_FILES = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110


class Agent:
    """What was started, and what is known of everything that came of it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self.cpu_ms = 0
        self.max_rss_bytes = 0

    def reap(self) -> None:
        """Take in every process that has ended."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.cpu_ms += int((used.ru_utime + used.ru_stime) * 1000)
            scale = 1 if sys.platform == "darwin" else 1024
            self.max_rss_bytes = max(self.max_rss_bytes, used.ru_maxrss * scale)
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def end(self) -> dict[str, Any]:
        """End all that is left, and say how it went. ``status`` is None if the agent itself had to be ended;
        ``survivors`` counts processes that had left its session."""
        self.reap()
        status, left = self.status, set[int]()
        if _has_children():
            left = {pid for pid, session in _descendants().items() if self.pid not in (session, pid)}
            self._end_all()
        return {
            "status": status,
            "cpu_ms": self.cpu_ms,
            "max_rss_bytes": self.max_rss_bytes,
            "survivors": len(left),
            "alive": len(_descendants()) if _has_children() else 0,
        }

    def _end_all(self) -> None:
        """Kill and take in until there is nobody left: a killed process's children come here, and are next."""
        for _ in range(_ROUNDS):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self.status is None:
                    os.killpg(self.pid, signal.SIGKILL)
            for pid in _descendants():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self.reap()
            if not _has_children():
                return
            time.sleep(_STEP_SECONDS)


def _has_children() -> bool:
    """Whether there is anybody to wait for, dead or alive."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _descendants() -> dict[int, int]:
    """Every living process below this one, with its session; nothing where there is no /proc."""
    found: dict[int, int] = {}
    left = _children(os.getpid())
    while left:
        pid = left.pop()
        fields = _stat(pid)
        if pid not in found and fields and fields[0] not in (b"Z", b"X"):
            found[pid] = int(fields[3])
            left += _children(pid)
    return found


def _children(parent: int) -> list[int]:
    """A process's children, from the kernel's own list where it keeps one, else from everybody's parent."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - pathlib is not worth its import here
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as stream:  # noqa: PTH123
                found += map(int, stream.read().split())
    except (FileNotFoundError, ProcessLookupError):
        if not _HAS_CHILDREN_FILES:
            found = [int(name) for name in _listing() if (fields := _stat(int(name))) and int(fields[1]) == parent]
    return found


def _listing() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208
    except OSError:
        return []


def _stat(pid: int) -> list[bytes]:
    """State, parent, group and session of a process, and more; nothing if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123
            return stream.read().rpartition(b")")[2].split()
    except OSError:
        return []


def _limit(ceilings: dict[str, int]) -> None:
    """Ceilings that hold from the first instruction on; a lower one that already holds is not raised."""
    for name, ceiling in ceilings.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        limit = ceiling if hard == resource.RLIM_INFINITY else min(ceiling, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def start(request: dict[str, Any], descriptors: list[int]) -> tuple[Agent | None, dict[str, Any]]:
    """Start what the request says: ``argv``, ``environment``, ``folder``, ``ceilings``, and the numbers that the
    descriptors behind stdin, stdout and stderr are to have."""
    stdin, stdout, stderr, *handed = descriptors
    numbers, ceilings = request["numbers"], request["ceilings"]
    for number, descriptor in zip(numbers, handed, strict=True):
        os.dup2(descriptor, number)
    try:
        process = subprocess.Popen(
            request["argv"],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=request["folder"],
            env=request["environment"],
            pass_fds=numbers,
            start_new_session=True,
            close_fds=True,
            preexec_fn=(lambda: _limit(ceilings)) if ceilings else None,  # noqa: PLW1509 - there is one thread
        )
    except OSError as error:
        return None, {"errno": error.errno, "strerror": error.strerror, "filename": _text(error.filename)}
    finally:
        for number in (*descriptors, *numbers):
            os.close(number)
    process.returncode = 0  # it is waited for here, not by its object
    return Agent(process.pid), {"pid": process.pid}


def _text(name: Any) -> str | None:
    return os.fsdecode(name) if isinstance(name, str | bytes) else None


def _receive(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    head, descriptors, _, _ = socket.recv_fds(control, _HEADER_BYTES, _MOST_DESCRIPTORS)
    if len(head) < _HEADER_BYTES:
        return None, descriptors
    length, data = int.from_bytes(head, "big"), b""
    while len(data) < length:
        part = control.recv(length - len(data))
        if not part:
            return None, descriptors
        data += part
    return json.loads(data), descriptors


def _answer(control: socket.socket, value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()
    control.sendall(len(data).to_bytes(_HEADER_BYTES, "big") + data)


def main() -> None:
    """Serve requests until the socket closes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends with its socket, and not before it has ended the agent
    control = socket.socket(fileno=int(sys.argv[1]))
    agent: Agent | None = None
    try:
        while True:
            request, descriptors = _receive(control)
            if request is None:
                break
            if request["do"] == "start":
                agent, answer = start(request, descriptors)
            elif agent is None:
                answer = {"status": None}
            elif request["do"] == "poll":
                agent.reap()
                answer = {"status": agent.status}
            else:
                answer, agent = agent.end(), None
            _answer(control, answer)
    except OSError:
        pass  # the supervisor is gone
    finally:
        if agent is not None:
            agent.end()


if __name__ == "__main__":
    main()
