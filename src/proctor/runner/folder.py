"""A run's folder: where each file stands, and writing them so that a crash leaves none half written.

Left out: the ledger's own files (``ledger``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from proctor.codec.canonical import sha256_hex
from proctor.errors import Place, UsageError
from proctor.ledger.trace import Step, trace_row
from proctor.score.cells import CellRecord
from proctor.suite.load import Suite
from proctor.suite.plan import Cell

__all__ = ["RunFolder"]

_encode = msgspec.json.Encoder().encode
_UNFINISHED = ".new"
_MOST_SUITE_BYTES = 64 * 1024 * 1024


class RunFolder:
    """The files of one run under ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def create(cls, root: Path) -> RunFolder:
        """A new folder. Raises ``UsageError`` if there is something already: nothing is overwritten unasked."""
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise UsageError(
                "the run's folder is not empty",
                place=Place(str(root)),
                expected="a folder that doesn't exist yet",
                fix="choose another --out",
            )
        root.mkdir(parents=True, exist_ok=True)
        for name in ("traces", "states"):
            (root / name).mkdir(exist_ok=True)
        return cls(root)

    @property
    def ledger(self) -> Path:
        """The run's own log."""
        return self.root / "ledger"

    def worker_log(self, number: int) -> Path:
        """A worker's log."""
        return self.ledger / "workers" / f"{number:02d}"

    def worker_texts(self, number: int) -> Path:
        """A worker's texts."""
        return self.root / "texts" / f"{number:02d}"

    @property
    def report_html(self) -> Path:
        """The report that people read."""
        return self.root / "report.html"

    def write(self, name: str, data: bytes) -> Path:
        """Write a file as a whole or not at all."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}{_UNFINISHED}")
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        return path

    @staticmethod
    def as_json(value: Any) -> bytes:
        """A value as indented JSON with a final newline."""
        return msgspec.json.format(_encode(value), indent=1) + b"\n"

    def write_json(self, name: str, value: Any) -> Path:
        """Write a value as indented JSON with a final newline."""
        return self.write(name, self.as_json(value))

    def remove_leftovers(self) -> None:
        """Remove files that a crash left half-written; none of them was ever put in its place."""
        for path in self.root.rglob(f".*{_UNFINISHED}"):
            if path.is_file() and not path.is_symlink():
                path.unlink()

    def has_state(self, digest: str) -> bool:
        """Whether a database is kept under this digest."""
        return (self.root / "states" / f"{digest}.sqlite").exists()

    def write_state(self, data: bytes) -> str:
        """Keep a serialised database under its digest; the digest."""
        digest = sha256_hex(data)
        if not self.has_state(digest):
            self.write(f"states/{digest}.sqlite", data)
        return digest

    def read_state(self, digest: str) -> bytes:
        """A database kept under its digest."""
        return (self.root / "states" / f"{digest}.sqlite").read_bytes()

    def write_trace(self, run_id: str, cell: Cell, attempts: Iterable[tuple[str, tuple[Step, ...]]]) -> None:
        """The trace of a cell: the steps of all its attempts in order."""
        rows = (
            _encode(trace_row(run_id, cell.case_id, cell.run, name, step)) + b"\n"
            for name, steps in attempts
            for step in steps
        )
        self.write(f"traces/{cell.case_id}.{cell.run}.jsonl", b"".join(rows))

    def append_cell(self, record: CellRecord) -> str:
        """Add a row to ``cells.jsonl``; the digest of the row's bytes."""
        row = _encode(record)
        with (self.root / "cells.jsonl").open("ab") as stream:
            stream.write(row + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        return "sha256:" + sha256_hex(row)

    def copy_suite(self, suite: Suite, cases: bytes) -> None:
        """Keep what is needed to grade again: the suite's files, and its cases if they were generated."""
        total = 0
        for path in suite.files():
            total += path.stat().st_size
            if total > _MOST_SUITE_BYTES:
                raise UsageError(
                    "the suite's folder is too large to keep with the run",
                    place=Place(str(suite.folder)),
                    expected=f"at most {_MOST_SUITE_BYTES:,} bytes besides its agents",
                )
            self.write(f"suite/{path.relative_to(suite.folder).as_posix()}", path.read_bytes())
        self.write("cases.jsonl", cases)
