"""What tests of the sandbox share: where it can't be had they skip, and say why; and a way to be an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.sandbox.confine import missing_parts

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"

needs_t2 = pytest.mark.skipif(bool(missing_parts()), reason="; ".join(missing_parts()) or "T2 can be had")


def as_user(program: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program that imports Proctor as an ordinary user. Skips, and says why, where that can't be done."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become an ordinary user, with setpriv")
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    site = next((path for path in sys.path if path.endswith("site-packages")), "")
    source = str(Path(__file__).resolve().parents[1] / "src")
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", SYSTEM_PYTHON]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{source}:{site}", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "-c", text], capture_output=True, text=True, check=False, env=environment, cwd="/"
        )

    if not Path(SYSTEM_PYTHON).exists():
        pytest.skip(f"{SYSTEM_PYTHON} is not on this machine")
    check = run(f"import sys, msgspec, proctor; assert '%d.%d' % sys.version_info[:2] == {minor!r}")
    if check.returncode:
        pytest.skip(f"an ordinary user can't import Proctor here: {check.stderr.strip().splitlines()[-1][:120]}")
    return run(program)
