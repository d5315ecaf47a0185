"""The launcher: what it starts it ends, with all that came of it; it dies with its supervisor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor.errors import InfrastructureError
from proctor.sandbox.launcher import Launch, Launcher

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="adopting orphans needs Linux")

SURVIVOR = """
import os, sys, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        time.sleep(60)
    os._exit(0)
print(os.read(reader, 20).decode(), flush=True)
"""


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def _start(launcher: Launcher, program: str, folder: Path, **ceilings: int) -> int:
    """Start a program; the descriptor that its stdout can be read from."""
    reader, writer = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        launch = Launch(argv=[sys.executable, "-I", "-S", "-c", program], environment={"A": "b"}, ceilings=ceilings)
        launcher.start(launch, folder=folder, streams=(null, writer, null))
    finally:
        os.close(writer)
        os.close(null)
    return reader


def _read(fd: int) -> str:
    with os.fdopen(fd) as stream:
        return stream.readline().strip()


@pytest.mark.parametrize("waits", [True, False], ids=["agent still there", "agent gone"])
def test_one_that_forked_twice_and_left_its_session_is_ended(tmp_path: Path, waits: bool) -> None:
    with Launcher() as launcher:
        pid = int(_read(_start(launcher, SURVIVOR + ("time.sleep(60)" if waits else ""), tmp_path)))
        assert _alive(pid)
        deadline = time.monotonic() + 30
        while not waits and not launcher.poll() and time.monotonic() < deadline:
            time.sleep(0.01)
        remains = launcher.end()
        assert not _alive(pid)
        assert (remains.survivors, remains.alive) == (1, 0)
        assert remains.status == (None if waits else 0)


def test_what_it_used_is_known(tmp_path: Path) -> None:
    program = "x = bytearray(64 << 20)\nimport time\nuntil = time.process_time() + 0.2\n"
    program += "while time.process_time() < until: pass\nprint(1, flush=True)"
    with Launcher() as launcher:
        assert _read(_start(launcher, program, tmp_path)) == "1"
        while not launcher.poll():
            time.sleep(0.01)
        remains = launcher.end()
    assert remains.status == 0
    assert remains.cpu_ms is not None and remains.cpu_ms >= 200
    assert remains.max_rss_bytes is not None and 64 << 20 < remains.max_rss_bytes < 1 << 30


def test_ceilings_hold_from_the_start_and_nothing_else_is_handed_down(tmp_path: Path) -> None:
    program = (
        "import os, resource\n"
        "fds = [fd for fd in range(3, 200) if os.path.exists(f'/proc/self/fd/{fd}')]\n"
        "print(resource.getrlimit(resource.RLIMIT_FSIZE), dict(os.environ), os.getsid(0) == os.getpid(), fds)"
    )
    with Launcher() as launcher:
        said = _read(_start(launcher, program, tmp_path, RLIMIT_FSIZE=12345))
        launcher.end()
    # one descriptor is the folder that /proc/self/fd was listed by, never one of the launcher's or ours
    assert said.startswith("(12345, 12345) {'A': 'b'") and said.endswith("True []"), said


def test_it_ends_the_agent_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    supervisor = f"""
import os, sys, time
sys.path[:0] = {sys.path!r}
from pathlib import Path
from proctor.sandbox.launcher import Launch, Launcher
launch = Launch(argv=[sys.executable, "-I", "-S", "-c", {SURVIVOR + "time.sleep(60)"!r}], environment={{}})
launcher = Launcher()
launcher.start(launch, folder=Path("/"), streams=(0, 1, 2))
time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", supervisor], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 30
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(pid)


def test_one_whose_launcher_was_killed_is_ended_and_the_next_can_start(tmp_path: Path) -> None:
    kill = "import os, signal, time\nprint(os.getpid(), flush=True)\nos.kill(os.getppid(), signal.SIGKILL)\n"
    with Launcher() as launcher:
        pid = int(_read(_start(launcher, kill + "time.sleep(60)", tmp_path)))
        assert launcher.end().status is None
        deadline = time.monotonic() + 30
        while _alive(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not _alive(pid)
        assert _read(_start(launcher, "print('next')", tmp_path)) == "next"


def test_what_cant_be_started_is_said_by_name(tmp_path: Path) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    with Launcher() as launcher:
        with pytest.raises(FileNotFoundError) as caught:
            launcher.start(
                Launch(argv=["/no/such/program"], environment={}), folder=tmp_path, streams=(null, null, null)
            )
        assert caught.value.filename == "/no/such/program"
        _start_pid = launcher.start(
            Launch(argv=["/bin/sleep", "60"], environment={}), folder=tmp_path, streams=(null, null, null)
        )
        with pytest.raises(InfrastructureError, match="running already"):
            launcher.start(Launch(argv=["/bin/true"], environment={}), folder=tmp_path, streams=(null, null, null))
        assert _alive(_start_pid)
    os.close(null)
    assert not _alive(_start_pid)


def test_ctrl_c_in_its_terminal_does_not_end_it_before_the_agent(tmp_path: Path) -> None:
    with Launcher() as launcher:
        os.close(_start(launcher, "import time; time.sleep(60)", tmp_path))
        assert launcher._process is not None
        launcher._process.send_signal(signal.SIGINT)
        assert not launcher.poll()
        assert launcher.end().alive == 0
