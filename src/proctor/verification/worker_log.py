"""What a worker's log says: its attempts, and the trace and the texts that go with them. Pure.

An attempt is registered before anything of it, ends once, and nothing of it follows; its steps count from 1 without a
gap. Left out: whether the bytes are those that were signed (``ledger.verify``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from proctor.errors import EvidenceError
from proctor.ledger.checks import Finding
from proctor.ledger.entries import (
    ENTRY_KINDS,
    AttemptEnd,
    AttemptStart,
    CallEntry,
    Entry,
    FinalState,
    Finish,
    Recovered,
    Say,
    WorldEvent,
)
from proctor.ledger.trace import steps_of, trace_row

__all__ = ["AttemptSeen", "Texts", "WorkerRecord", "commitments_of"]

_encode = msgspec.json.Encoder().encode
_STEPS = (CallEntry, Finish, Say, WorldEvent)
_REFS: dict[type[Entry], tuple[str, ...]] = {
    cls: tuple(name for name in cls.__struct_fields__ if name.endswith("Ref")) for cls in ENTRY_KINDS.values()
}


def commitments_of(entry: Entry) -> list[str]:
    """The salted commitments that an entry makes."""
    found = [getattr(entry, name) for name in _REFS[type(entry)]]
    return [ref for ref in found if ref is not None]


class Texts(Protocol):
    """Texts by their commitment."""

    def __contains__(self, ref: str) -> bool: ...

    def get(self, ref: str) -> bytes:
        """The bytes. Raises ``EvidenceError`` where they are withheld."""
        ...


@dataclass(kw_only=True)
class AttemptSeen:
    """An attempt in a worker's log, with the SHA-256 of its part of the trace (None where a text is withheld)."""

    name: str
    cell: str
    case_id: str
    run: int
    log: str
    start: int
    end: int | None = None
    last: int = 0
    ended: AttemptEnd | None = None
    steps: int = 0
    states: list[str] = field(default_factory=list)
    rows: list[bytes] | None = field(default_factory=list)


class WorkerRecord:
    """A worker's log as values."""

    def __init__(self, folder: str, run_id: str, texts: Texts) -> None:
        self._folder = folder
        self._run_id = run_id
        self._texts = texts
        self.findings: list[Finding] = []
        self.attempts: dict[str, AttemptSeen] = {}
        self.n_events = 0
        self.withheld: set[str] = set()
        self._current: str | None = None

    def take(self, seq: int, t_ns: int, entry: Entry) -> None:
        """The next entry."""
        self.n_events += 1
        if isinstance(entry, Recovered):
            self._current = None
            return
        if isinstance(entry, AttemptStart):
            self._start(seq, entry)
            return
        name = getattr(entry, "attempt", None)
        attempt = self.attempts.get(name) if name is not None else None
        if attempt is None:
            self._note(
                seq, "no_attempt", "the entry belongs to no attempt that was registered", found=name or entry.kind
            )
            return
        if attempt.ended is not None or name != self._current:
            self._note(seq, "after_attempt", f"the entry follows the end of attempt {name}", found=entry.kind)
        attempt.last = seq
        for ref in commitments_of(entry):
            if ref not in self._texts:
                self.withheld.add(ref)
        if isinstance(entry, _STEPS):
            self._step(seq, t_ns, entry, attempt)
        elif isinstance(entry, FinalState):
            attempt.states.append(entry.fileSha256)
        elif isinstance(entry, AttemptEnd):
            attempt.ended, attempt.end, self._current = entry, seq, None

    def _start(self, seq: int, entry: AttemptStart) -> None:
        if entry.attempt in self.attempts:
            self._note(seq, "attempt_twice", f"attempt {entry.attempt} starts twice")
        if self._current is not None:
            self._note(seq, "attempt_open", f"an attempt starts before {self._current} ended", found=entry.attempt)
        self._current = entry.attempt
        self.attempts[entry.attempt] = AttemptSeen(
            name=entry.attempt,
            cell=f"{entry.caseId}/{entry.run}",
            case_id=entry.caseId,
            run=entry.run,
            log=self._folder,
            start=seq,
            last=seq,
        )

    def _step(self, seq: int, t_ns: int, entry: Any, attempt: AttemptSeen) -> None:
        if entry.step != attempt.steps + 1:
            self._note(
                seq, "step_gap", f"step {attempt.steps + 1} is missing", expected=attempt.steps + 1, found=entry.step
            )
        attempt.steps = entry.step
        if attempt.rows is None or any(ref not in self._texts for ref in commitments_of(entry)):
            attempt.rows = None
            return
        try:
            for _, step in steps_of([(seq, t_ns, entry)], self._texts.get):
                row = trace_row(self._run_id, attempt.case_id, attempt.run, attempt.name, step)
                attempt.rows.append(hashlib.sha256(_encode(row)).digest())
        except (ValueError, EvidenceError) as error:
            attempt.rows = None
            self._note(seq, "bad_text", "a text is not what an entry of this kind commits to", found=error)

    def _note(self, seq: int, code: str, problem: str, **facts: object) -> None:
        self.findings.append(Finding.at(self._folder, code, problem, field=f"entry {seq}", **facts))
