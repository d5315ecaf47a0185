"""The intake desk: resetting a world of 100,000 rows, checked (bar 10 ms; baseline: copying the snapshot's bytes once and
hashing them), and grading a case by all five graders (baseline: reading the two states that the graders look at)."""

from __future__ import annotations

import hashlib
import statistics
import sys
import time
from collections.abc import Callable

from proctor.grade.key_graders import grade_all
from proctor.grade.model import Evidence
from proctor.suite.generate import generate_cases
from proctor.suite.layout import Layout
from proctor.suite.load import load_suite
from proctor.worlds.host import find_world
from proctor.worlds.session import Session
from proctor.worlds.state import open_bytes, read_state

ROWS = 100_000


def median_ms(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def main() -> None:
    suite = load_suite("intake")
    case = generate_cases(suite.folder, suite.spec.cases, 1)[1]
    session = Session(find_world(suite.folder, suite.spec.world))

    session.reset(case["setup"], "1")
    small = session.dump()

    def read() -> object:
        return read_state(open_bytes(small)), read_state(open_bytes(small))

    before, after = read()  # type: ignore[misc]
    evidence = Evidence(case=case, key=case["key"], expect=None, before=before, after=after, steps=(), answer=None)
    ours, base = median_ms(lambda: grade_all(evidence, Layout(table="cases")), 200), median_ms(read, 200)
    print(
        f"five graders, one case    {ours:6.2f} ms            reading its states {base:6.2f} ms   ratio {ours / base:.1f}"
    )

    events = [
        {"number": n, "case_id": "C-1", "kind": "k", "detail": "d", "at": "2026-11-30T09:00:00Z"} for n in range(ROWS)
    ]
    large = {**case["setup"], "events": events}
    session.reset(large, "1")
    data = session.dump()
    ours = median_ms(lambda: session.reset(large, "1"), 30)
    base = median_ms(lambda: hashlib.sha256(bytearray(data)).digest(), 30)
    megabytes = len(data) / 1e6
    print(
        f"reset, {ROWS:,} rows       {ours:6.2f} ms (bar 10)   copy and hash {megabytes:.1f} MB {base:6.2f} ms   ratio {ours / base:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
