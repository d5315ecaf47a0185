"""The start-up self-test: escape attempts from inside the very sandbox that agents will run in.

It sets up what there would be to reach (a key, a log, a listening port, sockets, a secret in the environment), runs
``sandbox.probe`` where an agent would run, and says which attempts came through.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from proctor.errors import IsolationError
from proctor.sandbox.launcher import Launch, Launcher

__all__ = ["AGENT_FOLDER", "PROBE", "SelfTestResult", "Surroundings", "run_self_test"]

AGENT_FOLDER = "/(the agent's folder)"

PROBE = Path(__file__).with_name("probe.py")
_TIMEOUT_SECONDS = 60.0

Wrap = Callable[[Sequence[str], Path], tuple[list[str], dict[int, int]]]
"""From a command and its folder to the command to start, and descriptors that it inherits by the number that they get
(closed here afterwards)."""


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a process in the sandbox sees around it: mount points (``ro`` or ``rw``), names in its environment,
    network interfaces that are up, its user, descriptors that it was handed."""

    mounts: dict[str, str]
    environment: tuple[str, ...]
    interfaces: tuple[str, ...]
    user: int
    descriptors: tuple[int, ...]

    def outside(self, allowed: Surroundings) -> list[str]:
        """Everything that is seen and was not allowed. Below an allowed folder its own mode holds."""
        found = []
        for place, mode in self.mounts.items():
            nearest = max((p for p in allowed.mounts if _is_below(place, p)), key=len, default=None)
            if nearest is None or (place != "/" and nearest == "/"):
                found.append(f"mount {place}")
            elif mode == "rw" and allowed.mounts[nearest] == "ro":
                found.append(f"mount {place} may be written")
        found += [f"environment variable {name}" for name in self.environment if name not in allowed.environment]
        found += [f"network interface {name}" for name in self.interfaces if name not in allowed.interfaces]
        found += [f"descriptor {number}" for number in self.descriptors if number not in allowed.descriptors]
        if self.user != allowed.user:
            found.append(f"user {self.user}")
        return found


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")


class SelfTestResult(msgspec.Struct, frozen=True, kw_only=True):
    """Attempt → whether it succeeded; and what was seen there, the probe's own folder as ``AGENT_FOLDER``."""

    attempts: dict[str, bool]
    observed: Surroundings

    @property
    def open(self) -> list[str]:
        """The attempts that came through."""
        return sorted(name for name, succeeded in self.attempts.items() if succeeded)


def run_self_test(launcher: Launcher, wrap: Wrap) -> SelfTestResult:
    """Try to escape, started as an agent would be. Raises ``IsolationError`` if the probe itself can't run there."""
    with ExitStack() as stack:
        outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-selftest-")))
        probe_folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-probe-")))
        probe_folder.chmod(0o755)
        (probe_folder / PROBE.name).write_bytes(PROBE.read_bytes())
        (probe_folder / PROBE.name).chmod(0o644)
        targets = _set_out(stack, outside)
        command, inherited = wrap([sys.executable, "-I", "-S", str(probe_folder / PROBE.name)], probe_folder)
        launch = Launch(argv=command, environment={}, inherited=inherited)
        try:
            status, said, complaint = _run(launcher, launch, probe_folder, json.dumps(targets).encode() + b"\n")
        except OSError as error:
            raise _cannot_run(str(error)) from error
        finally:
            for fd in inherited.values():
                os.close(fd)
        if status != 0:
            raise _cannot_run(complaint.decode("utf-8", "replace").strip()[-200:] or f"status {status}")
        return msgspec.json.decode(said.replace(str(probe_folder).encode(), AGENT_FOLDER.encode()), type=SelfTestResult)


def _run(launcher: Launcher, launch: Launch, folder: Path, given: bytes) -> tuple[int | None, bytes, bytes]:
    """Status, stdout and stderr of a command that is given a few bytes on stdin."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        reader, writer = os.pipe()
        try:
            try:
                launcher.start(launch, folder=folder, streams=(stdin.fileno(), writer, stderr.fileno()))
            finally:
                os.close(writer)
            said, until = b"", time.monotonic() + _TIMEOUT_SECONDS
            while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
                data = os.read(reader, 1 << 16)
                if not data:
                    break
                said += data
            while not launcher.poll() and time.monotonic() < until:
                time.sleep(0.002)
            status = launcher.end().status
        finally:
            os.close(reader)
        stderr.seek(0)
        return status, said, stderr.read()


def _cannot_run(found: str) -> IsolationError:
    return IsolationError(
        "the isolation's self-test can't run inside the sandbox",
        expected="a Python interpreter that starts there",
        found=found,
        fix="`proctor doctor` says what this machine offers",
        code="self_test",
    )


def _set_out(stack: ExitStack, outside: Path) -> dict[str, object]:
    """What there is to reach: files, sockets, this process."""
    outside.chmod(0o755)
    (outside / "key.jsonl").write_text('{"answer": 42}\n')
    private = outside / "private.key"
    private.write_text("secret secret secret\n")
    private.chmod(0o600)
    ledger = stack.enter_context((outside / "wal").open("ab"))
    tcp = stack.enter_context(socket.socket())
    tcp.bind(("127.0.0.1", 0))
    tcp.listen(1)
    by_path = stack.enter_context(socket.socket(socket.AF_UNIX))
    by_path.bind(str(outside / "socket"))
    by_path.listen(1)
    abstract_name = f"proctor-{secrets.token_hex(8)}"
    if sys.platform.startswith("linux"):
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind("\0" + abstract_name)
        abstract.listen(1)
    canary = f"canary-{secrets.token_hex(8)}"
    holder = stack.enter_context(
        subprocess.Popen(
            ["/bin/sleep", "60"], env={"PROCTOR_CANARY": canary}, pass_fds=(ledger.fileno(),), start_new_session=True
        )
    )
    stack.callback(holder.kill)
    stat = Path(f"/proc/{holder.pid}/stat")
    started = stat.read_text().rsplit(")", 1)[1].split()[19] if stat.exists() else "none"
    return {
        "key": str(outside / "key.jsonl"),
        "private_key": str(private),
        "run_folder": str(outside),
        "ledger": str(outside / "wal"),
        "pid": holder.pid,
        "fd": ledger.fileno(),
        "start_time": started,
        "program": "/bin/sleep",
        "canary": canary,
        "port": tcp.getsockname()[1],
        "abstract": abstract_name,
        "socket": str(outside / "socket"),
        "home_file": _some_file(Path.home()),
        "tmp_file": str(outside / "planted"),
    }


def _some_file(folder: Path) -> str | None:
    """A file that stands in a folder, if there is one."""
    try:
        return next((str(path) for path in sorted(folder.iterdir()) if path.is_file() and path.stat().st_size), None)
    except OSError:
        return None
