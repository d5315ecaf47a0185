"""The ledger: appending, verifying and hashing events, each against the bare hashing of the same bytes.

``python bench/ledger.py`` prints events a second and the ratio to the baseline, best of several rounds: on a shared
machine the best round is the one that was disturbed least. One process; CPU time, but for the two rows that wait for
the disk.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from proctor.clock import SystemClock
from proctor.ledger.checks import EntryRule
from proctor.ledger.entries import CallEntry, Decision
from proctor.ledger.keys import Signer
from proctor.ledger.texts import TextStore
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.verify import verify_log
from proctor.ledger.writer import LogWriter

GROUP = 1_000
GROUPS = 10
ROUNDS = 15
SIGNER = Signer("bench.local/a", b"\x01" * 32)
TRUST = TrustFile(keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey),))
ARGS = [b'{"order_id":"A%05d","cents":4200,"reason":"it never came"}' % n for n in range(GROUP)]
RESULTS = [b'{"order_id":"A%05d","cents":4200,"status":"refunded"}' % n for n in range(GROUP)]
TOOL = "sha256:" + "ab" * 32


def call(step: int, args: str, result: str) -> CallEntry:
    return CallEntry(
        argsRef=args,
        attempt="C-001/1.0",
        cycle=1,
        decision=Decision.ALLOWED,
        error=None,
        fault=None,
        resultRef=result,
        shownRef=result,
        step=step,
        toolRef=TOOL,
    )


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process, system calls included: what one core needs, however busy the machine is."""
    start = time.process_time()
    work()
    return time.process_time() - start


def wall_seconds(work: Callable[[], object]) -> float:
    """Seconds as they pass: for what waits for the disk."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def batched(folder: Path) -> tuple[float, float, float]:
    """Seconds an event: appended in groups with two salted texts each; committed; and what closing adds."""
    log = LogWriter.create(folder / "log", origin=SIGNER.origin("run", "b"), signer=SIGNER, clock=SystemClock())
    texts = TextStore.create(folder / "texts" / "00")

    def append() -> None:
        for _ in range(GROUPS):
            args, results = texts.put_many(ARGS), texts.put_many(RESULTS)
            log.append_many([call(1, a, r) for a, r in zip(args, results, strict=True)])

    def commit() -> None:
        texts.commit()
        log.commit()

    appended, committed = seconds(append), seconds(commit)

    def close() -> None:
        texts.close()
        log.close()

    closed = seconds(close)
    n = GROUP * GROUPS
    return appended / n, committed / n, closed / n


def one_by_one(folder: Path, n: int = 5_000) -> float:
    """Seconds a call: two texts and the entry, each in the file before the next step."""
    log = LogWriter.create(folder / "single", origin=SIGNER.origin("run", "s"), signer=SIGNER, clock=SystemClock())
    texts = TextStore.create(folder / "single-texts" / "00")

    def calls() -> None:
        for step in range(n):
            args, result = texts.put_many((ARGS[0], RESULTS[0]))
            log.append(call(step, args, result))

    spent = seconds(calls)
    log.abandon()
    texts.abandon()
    return spent / n


def syncs(folder: Path, n: int = 40) -> tuple[float, float]:
    """Seconds a commit of one entry with one text, and a bare write with fdatasync."""
    log = LogWriter.create(folder / "sync", origin=SIGNER.origin("run", "c"), signer=SIGNER, clock=SystemClock())
    texts = TextStore.create(folder / "sync-texts" / "00")

    def commits() -> None:
        for step in range(n):
            ref = texts.put(ARGS[0])
            log.append(call(step, ref, ref))
            texts.commit()
            log.commit()

    spent = wall_seconds(commits)
    log.abandon()
    texts.abandon()
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def bare() -> None:
        for _ in range(n):
            os.write(fd, ARGS[0])
            os.fdatasync(fd)

    plain = wall_seconds(bare)
    os.close(fd)
    return spent / n, plain / n


def main() -> None:
    rows: dict[str, float] = {}

    def best(name: str, value: float) -> None:
        rows[name] = min(value, rows.get(name, value))

    n = GROUP * GROUPS
    for _ in range(ROUNDS):
        folder = Path(tempfile.mkdtemp(prefix="proctor-bench-", dir=Path.cwd()))
        try:
            appended, committed, closed = batched(folder)
            best("append, batched, 2 salted texts", appended)
            best("append, batched, with the commit", appended + committed)
            best("append, batched, committed, closed", appended + committed + closed)
            best("append, one by one, 2 salted texts", one_by_one(folder))
            log = folder / "log"
            best("verify, canonical, typed", seconds(lambda log=log: verify_log(log, TRUST)) / n)
            best(
                "verify, hashes alone",
                seconds(lambda log=log: verify_log(log, TRUST, rule=EntryRule.OPAQUE)) / n,
            )
            entries = [b"\0" + os.urandom(520) for _ in range(n)]
            best(
                "baseline: SHA-256 of each entry",
                seconds(lambda e=entries: [hashlib.sha256(x).digest() for x in e]) / n,
            )
            commit, bare = syncs(folder)
            best("commit of one entry and one text", commit)
            best("baseline: write and fdatasync", bare)
        finally:
            shutil.rmtree(folder)
    base, disk = rows["baseline: SHA-256 of each entry"], rows["baseline: write and fdatasync"]
    print(f"{'work':38}{'events/s':>12}{'µs each':>10}{'ratio':>8}")
    for name, spent in rows.items():
        ratio = spent / (disk if "sync" in name or "commit of" in name else base)
        print(f"{name:38}{1 / spent:>12,.0f}{spent * 1e6:>10.2f}{ratio:>8.1f}")


if __name__ == "__main__":
    main()
