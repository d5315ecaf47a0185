"""Starting an agent's process: bare, by the launcher (T1), in the sandbox (T2). Bar: T2 costs at most 15 ms more.

Baseline in the same run: ``subprocess.Popen`` of the same small program (``/bin/true``), waited for. Each figure is the
median and the best of interleaved starts, so that a busy machine is equally busy for all; on a very busy one the best
says more. Before that the whole self-test.
"""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from proctor.sandbox.confine import Confinement, missing_parts
from proctor.sandbox.tiers import IsolatedAgents, isolate

STARTS = 60
PROGRAM = "/bin/true"
GIB = 1024**3


def bare() -> None:
    subprocess.run([PROGRAM], env={}, start_new_session=True, check=True)


def by(agents: IsolatedAgents, folder: Path) -> Callable[[], None]:
    null = os.open(os.devnull, os.O_RDWR)

    def start() -> None:
        launch = agents.launch([PROGRAM], folder=folder, environment={}, home=folder, ceilings={})
        pid = agents.launcher.start(launch, folder=folder, streams=(null, null, null))
        end = os.pidfd_open(pid)
        for fd in launch.inherited.values():
            os.close(fd)
        select.select([end], [], [])
        os.close(end)
        agents.launcher.end()

    return start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        limits = {"memory_bytes": 8 * GIB, "file_bytes": GIB}
        tiers = {"T1": isolate("T1", Confinement(), **limits)}
        if not missing_parts():
            started = time.perf_counter()
            tiers["T2"] = isolate("T2", Confinement(environment={"PATH": "/usr/bin"}), **limits)
            print(f"self-test of T2                {(time.perf_counter() - started) * 1000:8.1f} ms, once a run")
        ways = {"bare": bare, **{tier: by(agents, folder) for tier, agents in tiers.items()}}
        times: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(STARTS + 5):
            for way, start in ways.items():
                began = time.perf_counter()
                start()
                if number >= 5:
                    times[way].append(time.perf_counter() - began)
        for agents in tiers.values():
            agents.close()
    base, base_best = statistics.median(times["bare"]) * 1000, min(times["bare"]) * 1000
    for way, values in times.items():
        median, best = statistics.median(values) * 1000, min(values) * 1000
        print(
            f"start and end, {way:<5} median {median:7.2f} ms ({median / base:5.2f}x bare, {median - base:+6.2f} ms), "
            f"best {best:7.2f} ms ({best / base_best:5.2f}x bare, {best - base_best:+6.2f} ms)"
        )


if __name__ == "__main__":
    main()
