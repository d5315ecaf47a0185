"""Nothing of a suite outlives a supervisor that was killed, even code that loops for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from refund_kit import copy_suite, edit


def test_a_looping_world_ends_with_its_supervisor(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    noted = tmp_path / "pid"
    loop = f"import os\nopen({str(noted)!r}, 'w').write(str(os.getpid()))\nwhile True: pass\n"
    edit(suite, "world.py", "from proctor import", loop + "from proctor import")
    command = [
        sys.executable,
        "-m",
        "proctor",
        "run",
        str(suite),
        "--agent",
        "cmd:true",
        "--out",
        str(tmp_path / "run"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (noted.exists() and noted.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int(noted.read_text())
    os.kill(child, 0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while time.monotonic() < deadline and _runs(child):
        time.sleep(0.05)
    assert not _runs(child), "the world's process outlived its supervisor"


def _runs(pid: int) -> bool:
    """Whether the process is there and no zombie that merely waits to be collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")
