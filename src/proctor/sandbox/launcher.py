"""Starting agents by a process of its own, which adopts and ends whatever they leave behind.

The supervisor hands a command, an environment and descriptors to the launcher (``sandbox.launcher_program``) and gets
a process id; at the end it asks for the end of everything that came of it, and is told what that used. Ends with the
supervisor, however that ends. Left out: what the command is wrapped in (``sandbox.tiers``).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.errors import InfrastructureError

__all__ = ["Launch", "Launcher", "Remains"]

PROGRAM = Path(__file__).with_name("launcher_program.py")
_HEADER_BYTES = 4
_ANSWER_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What to start: a command, its environment, and descriptors to hand down by the number that they get there. The
    caller closes them. ``ceilings`` are names of ``resource`` with their values."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    inherited: Mapping[int, int] = field(default_factory=dict)
    ceilings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Remains:
    """How a process and all that came of it ended.

    ``status`` is its exit status (negative: the signal), None if it had to be ended. ``cpu_ms`` is the processor time
    of all of them together, ``max_rss_bytes`` the largest memory of one of them; None where nobody measured.
    ``survivors`` had left its session and were ended too; ``alive`` could not be ended.
    """

    status: int | None
    cpu_ms: int | None = None
    max_rss_bytes: int | None = None
    survivors: int = 0
    alive: int = 0


class Launcher:
    """A launcher, started at first use and again if it was killed. One agent at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._pid: int | None = None

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, launch: Launch, *, folder: Path, streams: tuple[int, int, int]) -> int:
        """Start a command with its stdin, stdout and stderr; its process id. Raises ``OSError`` where the system
        refuses, ``InfrastructureError`` where the launcher itself can't be had."""
        if self._pid is not None:
            raise InfrastructureError("an agent is running already", code="agent_start")
        request = {
            "do": "start",
            "argv": list(launch.argv),
            "environment": dict(launch.environment),
            "folder": str(folder),
            "numbers": list(launch.inherited),
            "ceilings": dict(launch.ceilings),
        }
        answer = self._ask(request, (*streams, *launch.inherited.values()))
        if answer is None:
            raise InfrastructureError("the launcher ended before it started the agent", code="agent_start")
        if "pid" not in answer:
            raise OSError(answer["errno"], answer["strerror"], answer["filename"])
        self._pid = int(answer["pid"])
        return self._pid

    def poll(self) -> bool:
        """Whether the agent itself has ended."""
        answer = self._ask({"do": "poll"}) if self._pid is not None else None
        return answer is None or answer["status"] is not None

    def end(self) -> Remains:
        """End the agent and all that came of it."""
        pid, self._pid = self._pid, None
        if pid is None:
            return Remains(status=None)
        answer = self._ask({"do": "end"})
        if answer is None or "survivors" not in answer:  # somebody killed the launcher
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            return Remains(status=None)
        return Remains(**answer)

    def close(self) -> None:
        """End it, and with it whatever is still running."""
        control, process = self._control, self._process
        self._control = self._process = self._pid = None
        if control is not None:
            control.close()
        if process is not None:
            try:
                process.wait(timeout=_ANSWER_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _ask(self, request: Mapping[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any] | None:
        """The launcher's answer; None where it is gone."""
        control = self._control or self._open()
        data = json.dumps(request).encode()
        try:
            socket.send_fds(control, [len(data).to_bytes(_HEADER_BYTES, "big")], list(descriptors))
            control.sendall(data)
            length = int.from_bytes(_exactly(control, _HEADER_BYTES), "big")
            answer: dict[str, Any] = json.loads(_exactly(control, length))
        except (OSError, EOFError):
            self.close()
            return None
        return answer

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(PROGRAM), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LANG": "C.UTF-8"},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.settimeout(_ANSWER_SECONDS)
        self._control = ours
        return ours


def _exactly(control: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = control.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return data
