"""Grading a finished run again, whole process, against what starting Python with numpy alone costs in the same run.

The run has three cases in twenty runs each, made here with the agent that ``proctor suite new`` writes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proctor.runner.run import RunRequest, run_suite
from proctor.suite.template import new_suite

REPEATS = 5


def best(command: list[str]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=False)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        suite, run = Path(name) / "rooms", Path(name) / "run"
        for path, text in new_suite("rooms").items():
            (suite / path).parent.mkdir(parents=True, exist_ok=True)
            (suite / path).write_text(text, encoding="utf-8")
        run_suite(RunRequest(suite=str(suite), agent="builtin:good", runs=20, out=run))
        plain = best([sys.executable, "-c", "import numpy"])
        again = best([sys.executable, "-m", "proctor", "grade", str(run), "--suite", str(suite)])
        print(f"grade again, 60 cells, whole process: {again:.2f} s ({again / plain:.1f}× starting Python with numpy)")


if __name__ == "__main__":
    main()
