"""One cell's proof: its grade's place in the run's log, and its record's place in the worker's log.

Each proof is an inclusion proof (RFC 9162 section 2.1.3) under a signed head, so that it can be checked without the
rest of the run. Proofs are made from the entries and checked before they are handed out.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from proctor.errors import EvidenceError, Place, UsageError
from proctor.ledger.closing import LEDGER_NAME
from proctor.ledger.entries import AttemptEnd, AttemptStart, CellGrade, Entry
from proctor.ledger.envelope import read_entry
from proctor.ledger.merkle import check_inclusion, leaf_hash, make_inclusion_proof
from proctor.ledger.note import CHECKPOINT_NAME
from proctor.ledger.reader import read_raw
from proctor.ledger.tiles import Tree

__all__ = ["CellProof", "EntryProof", "prove_cell"]


class EntryProof(msgspec.Struct, frozen=True, kw_only=True):
    """One entry with its proof. ``entry`` is its text, ``hashes`` the proof (hexadecimal), ``checkpoint`` the signed
    head that the proof leads to (null in a log that was never closed: there the root alone stands)."""

    log: str
    index: int
    size: int
    root: str
    entry: str
    leaf: str
    hashes: tuple[str, ...]
    checkpoint: str | None


class CellProof(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's grade, and first and last entry of the attempt that it was given on."""

    cell: str
    outcome: str
    attempt: str | None
    grade: EntryProof
    start: EntryProof | None
    end: EntryProof | None


class _Log:
    """A log in memory: raw entries and their tree."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.raw = list(read_raw(folder))
        self.tree = Tree()
        self.tree.extend([leaf_hash(data) for data in self.raw])
        path = folder / CHECKPOINT_NAME
        is_closed = (folder / "tile").exists() and path.exists()
        self.checkpoint = path.read_text(encoding="utf-8") if is_closed else None

    def entries(self) -> list[Entry]:
        return [read_entry(data, seq, file=self.name).entry for seq, data in enumerate(self.raw)]

    def prove(self, index: int) -> EntryProof:
        leaf, root, size = leaf_hash(self.raw[index]), self.tree.root(), self.tree.size
        hashes = make_inclusion_proof(index, size, self.tree.subtree)
        if not check_inclusion(leaf, index, size, hashes, root):
            raise EvidenceError("the proof does not hold", place=Place(self.name, field=f"entry {index}"), code="proof")
        return EntryProof(
            log=self.name,
            index=index,
            size=size,
            root=root.hex(),
            entry=self.raw[index].decode(),
            leaf=leaf.hex(),
            hashes=tuple(one.hex() for one in hashes),
            checkpoint=self.checkpoint,
        )


def prove_cell(run: Path, cell: str) -> CellProof:
    """The proof for ``cell`` (``CASE/RUN``) of the run in folder ``run``, which must have been checked.

    Raises ``UsageError`` where no such cell is graded in the log.
    """
    log = _Log(run / LEDGER_NAME, LEDGER_NAME)
    grades = {f"{e.caseId}/{e.run}": (i, e) for i, e in enumerate(log.entries()) if isinstance(e, CellGrade)}
    if cell not in grades:
        some = ", ".join(list(grades)[:5]) or "none"
        raise UsageError(f"the log grades no cell {cell}", expected=f"CASE/RUN, such as {some}", code="no_cell")
    index, grade = grades[cell]
    start = end = None
    for folder in sorted((run / LEDGER_NAME / "workers").glob("*")):
        name = f"{LEDGER_NAME}/workers/{folder.name}"
        worker = _Log(folder, name)
        for seq, entry in enumerate(worker.entries()):
            if isinstance(entry, AttemptStart) and entry.attempt == grade.attempt:
                start = worker.prove(seq)
            if isinstance(entry, AttemptEnd) and entry.attempt == grade.attempt:
                end = worker.prove(seq)
        if start is not None:
            break
    return CellProof(
        cell=cell, outcome=grade.outcome, attempt=grade.attempt, grade=log.prove(index), start=start, end=end
    )
