"""A call through the gateway in process, recorded: one row, and a page of 50 rows; and resets of a world, checked.

Baseline in the same run: the bare SQL of the same tool, with json.dumps of its result and one write to a file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from proctor import world
from proctor.clock import SystemClock
from proctor.gateway.gateway import Gateway
from proctor.gateway.recorder import Recorder
from proctor.ledger.keys import Signer
from proctor.ledger.texts import TextStore
from proctor.ledger.writer import LogWriter
from proctor.suite.model import Contract
from proctor.worlds.schedule import Schedule
from proctor.worlds.session import Session

SCHEMA = "CREATE TABLE files(id TEXT PRIMARY KEY, name TEXT, size INT, folder TEXT);"
shelf = world(SCHEMA, clock="2026-11-30T09:00:00Z")


@shelf.tool(reads="files")
def get_file(db, id: str) -> dict:
    "One file."
    return db.one("SELECT * FROM files WHERE id = ?", id)


@shelf.tool(reads="files")
def list_files(db, after: str = "") -> list:
    "Fifty files."
    return db.all("SELECT * FROM files WHERE id > ? ORDER BY id LIMIT 50", after)


def rows(n: int) -> list[dict[str, object]]:
    return [{"id": f"F{i:07d}", "name": f"call {i}.mp3", "size": i, "folder": f"D{i % 7}"} for i in range(n)]


def median_us(action: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def calls(folder: Path) -> None:
    signer = Signer("bench", bytes(range(32)))
    log = LogWriter.create(folder / "log", origin="bench/1", signer=signer, clock=SystemClock())
    texts = TextStore.create(folder / "texts" / "00")
    recorder = Recorder(log, texts)
    session = Session(shelf)
    session.reset({"files": rows(1000)}, "1")
    gateway = Gateway(session, recorder, attempt="A/1.0", contract=Contract(), schedule=Schedule((), ()))
    gateway.begin_cycle(1)
    plain = sqlite3.connect(":memory:", isolation_level=None)
    plain.execute(SCHEMA)
    plain.executemany("INSERT INTO files VALUES (:id, :name, :size, :folder)", rows(1000))
    fd = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT)

    def bare(sql: str, value: str) -> None:
        os.write(fd, json.dumps(plain.execute(sql, (value,)).fetchall()).encode())

    for name, action, base, bar in (
        (
            "one row",
            lambda: gateway.call("get_file", b'{"id":"F0000500"}'),
            lambda: bare("SELECT * FROM files WHERE id = ?", "F0000500"),
            25,
        ),
        (
            "page of 50",
            lambda: gateway.call("list_files", b'{"after":"F0000100"}'),
            lambda: bare("SELECT * FROM files WHERE id > ? ORDER BY id LIMIT 50", "F0000100"),
            150,
        ),
    ):
        median_us(action, 500)
        ours, theirs = median_us(action, 4000), median_us(base, 4000)
        recorder.take()
        print(
            f"gateway call, {name:<11} {ours:8.1f} µs  (bar {bar})  bare SQL {theirs:6.1f} µs  ratio {ours / theirs:.1f}"
        )


def resets() -> None:
    for n, bar_us, repeats in ((100, 100, 500), (100_000, 10_000, 15)):
        setup = {"files": rows(n)}
        session = Session(shelf)
        session.reset(setup, "1")
        ours = median_us(lambda: session.reset(setup, "1"), repeats)
        plain = sqlite3.connect(":memory:", isolation_level=None)
        plain.execute(SCHEMA)
        many = rows(n)

        def rebuild() -> None:
            plain.execute("BEGIN")
            plain.execute("DELETE FROM files")
            plain.executemany("INSERT INTO files VALUES (:id, :name, :size, :folder)", many)
            plain.execute("COMMIT")

        theirs = median_us(rebuild, min(repeats, 20))
        print(
            f"reset, {n:>7} rows       {ours:8.0f} µs  (bar {bar_us})  rebuild  {theirs:6.0f} µs  ratio {ours / theirs:.3f}"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        calls(Path(temporary))
    resets()
