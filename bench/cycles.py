"""A whole run: 600 files × 20 cycles, a fresh agent process each cycle, everything committed. Bar: 3 s.

Baseline in the same run: starting as many bare interpreters as the run has cycles. Then `proctor --help`. Bar: 120 ms;
baseline: a bare interpreter.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proctor.suite.load import BUILTIN

CYCLES = 20


def seconds(command: list[str], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def large_suite(folder: Path) -> Path:
    suite = folder / "suite"
    shutil.copytree(BUILTIN / "call-import", suite)
    text = (suite / "suite.toml").read_text()
    (suite / "suite.toml").write_text(text.replace("corpus.py:cases", "corpus.py:benchmark_cases"))
    return suite


def main() -> None:
    proctor = [sys.executable, "-c", "from proctor.cli.main import main; main()"]  # what the console script does
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    start = seconds(bare, 15)
    with tempfile.TemporaryDirectory() as temporary:
        suite = large_suite(Path(temporary))
        times = []
        for repeat in range(3):
            out = Path(temporary) / f"run{repeat}"
            command = [*proctor, "run", str(suite), "--agent", "builtin:reference", "--out", str(out), "--quiet"]
            times.append(seconds(command, 1))
    ours = statistics.median(times)
    base = start * CYCLES
    print(
        f"600 files x {CYCLES} cycles  {ours:6.2f} s (bar 3)   {CYCLES} bare starts {base:5.2f} s   ratio {ours / base:.1f}"
    )
    ours = seconds([*proctor, "--help"], 15)
    print(
        f"proctor --help        {ours * 1000:6.0f} ms (bar 120)   bare start {start * 1000:4.0f} ms   ratio {ours / start:.1f}"
    )


if __name__ == "__main__":
    main()
