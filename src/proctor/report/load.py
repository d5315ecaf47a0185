"""Reading a finished run's folder back: report, traces, states, cases, how each cycle ended. The room's edge: files.

Nothing is believed blindly: rows are read strictly, a state must have the digest that names it, and ``report.json``
must be the one that the run's ledger names. That is no proof yet: ``proctor verify`` checks everything. Nothing is
ever written here.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from proctor.codec.canonical import digest_bytes, sha256_hex
from proctor.codec.json_strict import Limits, parse_json
from proctor.codec.jsonl import iter_jsonl
from proctor.codec.models import convert
from proctor.errors import EvidenceError, InputError, Place, UsageError
from proctor.ledger.entries import AgentEnd, RunVerdict
from proctor.ledger.envelope import read_entry
from proctor.ledger.reader import is_open, read_raw
from proctor.ledger.texts import TextReader
from proctor.ledger.trace import Step
from proctor.report.document import Cell, Document, read_document
from proctor.report.evidence import CellEvidence, CycleEnding, excerpt
from proctor.report.worst import worst_cells
from proctor.worlds.state import Change, State, diff_states, open_bytes, read_state

__all__ = ["RunReading", "open_run"]

_CASE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,127}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_REPORT_LIMITS = Limits(max_bytes=4 * 1024**3)
_STEP_FIELDS = frozenset(Step.__struct_fields__)


def open_run(path: Path) -> RunReading:
    """A finished run by its folder, or a report by its file. Raises ``UsageError`` where there is nothing,
    ``EvidenceError`` where the run never finished or its report is another one than its ledger names."""
    if path.is_file():
        return _reading(None, path, path.read_bytes())
    if not path.is_dir():
        raise UsageError("there is no run here", place=Place(str(path)), expected="a run's folder, or a report.json")
    report = path / "report.json"
    if not report.is_file():
        began = (path / "plan.json").is_file()
        raise EvidenceError(
            "this run did not finish: it has no report" if began else "this folder holds no run",
            place=Place(str(path)),
            expected="report.json",
            fix=f"'proctor run --resume {path}' goes on with it; 'proctor verify {path}' says what is complete"
            if began
            else "name a folder that 'proctor run' made",
            code="no_report",
        )
    data = report.read_bytes()
    _check_report(path, data)
    return _reading(path, report, data)


def _reading(folder: Path | None, path: Path, data: bytes) -> RunReading:
    value = parse_json(data, file=str(path), limits=_REPORT_LIMITS)
    if not isinstance(value, dict):
        raise InputError("not a report", place=Place(str(path)), expected="a JSON object", found=value)
    return RunReading(folder, read_document(value, file=str(path)), data)


def _check_report(folder: Path, data: bytes) -> None:
    ledger = folder / "ledger"
    if not ledger.is_dir() or is_open(ledger):
        return
    for seq, raw in enumerate(read_raw(ledger)):
        if b'"run.verdict"' not in raw:
            continue
        entry = read_entry(raw, seq, file=str(ledger)).entry
        if isinstance(entry, RunVerdict) and entry.reportDigest != digest_bytes(data):
            raise EvidenceError(
                "the report is not the one that the run's ledger names",
                place=Place(str(folder / "report.json")),
                expected=entry.reportDigest,
                found=digest_bytes(data),
                fix=f"'proctor verify {folder}' says what else changed",
                code="report_digest",
            )


class RunReading:
    """A run as it lies on the disk. ``folder`` is None where there is a report only; ``raw`` is ``report.json``."""

    def __init__(self, folder: Path | None, document: Document, raw: bytes) -> None:
        self.folder = folder
        self.document = document
        self.raw = raw

    @property
    def values(self) -> dict[str, Any]:
        """``report.json`` as plain values."""
        values: dict[str, Any] = msgspec.json.decode(self.raw)
        return values

    def cell(self, name: str) -> Cell:
        """The cell ``CASE/RUN``; for ``CASE`` alone its worst run. Raises ``UsageError`` with the nearest names."""
        case, _, run = name.rpartition("/") if "/" in name else (name, "", "")
        found = [c for c in self.document.cells if c.case_id == case and (not run or str(c.run) == run)]
        if not found:
            known = [c.name for c in worst_cells(self.document.cells, 5)] or [c.name for c in self.document.cells[:5]]
            raise UsageError(
                f"the run has no cell {name!r}",
                expected=f"CASE/RUN or CASE, such as {', '.join(known)}" if known else "a run with cells",
                found=name,
            )
        return (worst_cells(found, 1) or found)[0]

    def trace_path(self, cell: Cell) -> Path:
        """The cell's trace. Raises ``UsageError`` where there is none."""
        path = None if self.folder is None else self.folder / "traces" / f"{cell.case_id}.{cell.run}.jsonl"
        if path is None or not _CASE_ID.fullmatch(cell.case_id) or not _is_plain(path):
            raise UsageError(f"there is no trace of {cell.name}", expected="a run's folder with a trace of this cell")
        return path

    def rows(self, cell: Cell) -> Iterator[tuple[str, Step]]:
        """``(attempt, step)`` for every row of the trace. Raises ``InputError`` with file, line and field."""
        path = self.trace_path(cell)
        with path.open("rb") as stream:
            for line, row in iter_jsonl(stream, file=str(path)):
                yield _step(row, str(path), line)

    def evidence(self, cells: Iterable[Cell]) -> dict[str, CellEvidence]:
        """The record of each of the cells, whole, by the cell's name; nothing for a report without a folder."""
        if self.folder is None:
            return {}
        wanted = {cell.name: cell for cell in cells}
        if not wanted:
            return {}
        endings = self._endings(set(wanted))
        return {name: self._evidence(cell, endings.get(name, [])) for name, cell in wanted.items()}

    def excerpts(self, *, cells: int, steps: int, changes: int) -> dict[str, CellEvidence]:
        """For a page: the worst ``cells`` cells with what is around their findings."""
        worst = worst_cells(self.document.cells, cells)
        whole = self.evidence(worst)
        return {c.name: excerpt(whole[c.name], c, steps=steps, changes=changes) for c in worst if c.name in whole}

    def _evidence(self, cell: Cell, endings: list[CycleEnding]) -> CellEvidence:
        attempt = f"{cell.name}.{(cell.attempts or 1) - 1}"
        steps = tuple(step for name, step in self.rows(cell) if name == attempt) if cell.attempts else ()
        changes = self._changes(cell)
        return CellEvidence(
            cell=cell.name,
            steps=steps,
            n_steps=len(steps),
            endings=tuple(ending for ending in endings if ending.attempt == attempt),
            changes=changes,
            n_changes=len(changes or ()),
            case=self._cases.get(cell.case_id),
        )

    def _endings(self, cells: set[str]) -> dict[str, list[CycleEnding]]:
        """How the agent ended each cycle, from the workers' logs and the texts beside them."""
        found: dict[str, list[CycleEnding]] = {}
        folder = self.folder or Path()
        for ledger in sorted(path for path in (folder / "ledger" / "workers").glob("*") if path.is_dir()):
            for seq, raw in enumerate(read_raw(ledger)):
                if b'"agent.end"' not in raw:
                    continue
                entry = read_entry(raw, seq, file=str(ledger)).entry
                cell = entry.attempt.rpartition(".")[0] if isinstance(entry, AgentEnd) else ""
                if isinstance(entry, AgentEnd) and cell in cells:
                    found.setdefault(cell, []).append(self._ending(entry))
        return found

    def _ending(self, entry: AgentEnd) -> CycleEnding:
        said: Any = {}
        if entry.detailRef is not None:
            text = self._texts.find(entry.detailRef)
            said = {"detail": "withheld"} if text is None else parse_json(text)
        return CycleEnding(
            attempt=entry.attempt,
            cycle=entry.cycle,
            reason=entry.reason,
            exit_status=entry.exitStatus,
            detail=str(said.get("detail", "")),
            stderr=str(said.get("stderr", "")),
        )

    def _changes(self, cell: Cell) -> tuple[Change, ...] | None:
        before, after = self._state(cell.states.before), self._state(cell.states.after)
        return None if before is None or after is None else tuple(diff_states(before, after))

    def _state(self, digest: str | None) -> State | None:
        if digest is None or self.folder is None or not _DIGEST.fullmatch(digest):
            return None
        path = self.folder / "states" / f"{digest}.sqlite"
        if not _is_plain(path):
            return None
        data = path.read_bytes()
        try:
            if sha256_hex(data) != digest:
                raise sqlite3.DatabaseError("its bytes have another digest than its name")
            return read_state(open_bytes(data))
        except sqlite3.DatabaseError as error:
            raise EvidenceError(
                f"a kept state can't be read: {error}", place=Place(str(path)), expected=digest, code="broken_state"
            ) from error

    @cached_property
    def _texts(self) -> TextReader:
        return TextReader((self.folder or Path()) / "texts")

    @cached_property
    def _cases(self) -> dict[str, dict[str, Any]]:
        """Cases by id, without their answer key."""
        path = (self.folder or Path()) / "cases.jsonl"
        if self.folder is None or not _is_plain(path):
            return {}
        with path.open("rb") as stream:
            rows = [row for _, row in iter_jsonl(stream, file=str(path))]
        hidden = ("key", "expect", "answer")
        return {str(row.get("id")): {k: v for k, v in row.items() if k not in hidden} for row in rows}


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """What must be in a row of a trace beside the step's own fields."""

    attempt: str


def _step(row: dict[str, Any], file: str, line: int) -> tuple[str, Step]:
    def place(path: str) -> Place:
        return Place(file, line, path or None)

    attempt = convert(row, _Row, place=place, error=InputError).attempt
    step = convert({k: v for k, v in row.items() if k in _STEP_FIELDS}, Step, place=place, error=InputError)
    return attempt, step
