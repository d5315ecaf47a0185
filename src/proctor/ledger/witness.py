"""A witness: another party that signs a log's head after seeing that the log only grew since it last looked.

It runs as another user, or on another machine, with a key and a memory of its own: for every origin the size and root
that it signed last. A log that was taken back, or split in two, is refused. What it signed is remembered on the disk
before the signature is handed out (C2SP tlog-cosignature, tlog-witness). It does not look at what entries say.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.clock import Clock
from proctor.errors import EvidenceError, Place
from proctor.ledger.checks import Finding
from proctor.ledger.files import DISK, FileOps, closing_on_error, lock, write_atomically
from proctor.ledger.head import check_head
from proctor.ledger.keys import Signer
from proctor.ledger.merkle import leaf_hash
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint, cosign
from proctor.ledger.reader import read_raw
from proctor.ledger.tiles import Tree
from proctor.ledger.trust import TrustFile

__all__ = ["Witnessed", "witness_log"]

_MEMORY: Final = "witness"


class _Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    origin: str
    root: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A head that was signed; ``since`` is the size that was signed before, 0 the first time."""

    origin: str
    size: int
    since: int


def witness_log(
    log: Path, *, home: Path, signer: Signer, trust: TrustFile, clock: Clock, ops: FileOps = DISK
) -> Witnessed:
    """Check the log in folder ``log`` against the memory in ``home`` and add a cosignature to its head.

    Raises ``EvidenceError``: ``rollback``, ``fork``, ``root_differs``, or what is wrong with the head.
    """
    head = _head(log, trust)
    memory = home / _MEMORY / f"{hashlib.sha256(head.origin.encode()).hexdigest()}.json"
    memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    guard = memory.with_suffix(".lock")
    fd = ops.open(guard, os.O_RDWR | os.O_CREAT)
    with closing_on_error(ops, fd):
        lock(fd, guard)
        seen = msgspec.json.decode(memory.read_bytes(), type=_Seen) if memory.exists() else None
        _only_grew(log, head, seen)
        now = _Seen(origin=head.origin, root=head.root.hex(), size=head.size)
        write_atomically(ops, memory, msgspec.json.encode(now))
        note = (log / CHECKPOINT_NAME).read_bytes()
        write_atomically(ops, log / CHECKPOINT_NAME, cosign(note, signer, seconds=clock.now_ns() // 1_000_000_000))
    ops.close(fd)
    return Witnessed(origin=head.origin, size=head.size, since=seen.size if seen else 0)


def _head(log: Path, trust: TrustFile) -> Checkpoint:
    """The log's head, signed by a key that the witness believes; earlier cosignatures don't matter."""
    findings: list[Finding] = []
    head = check_head(log, msgspec.structs.replace(trust, quorum=0), findings)
    serious = [one for one in findings if one.code != "unknown_signature"]
    if head.checkpoint is None or serious:
        first = serious[0]
        raise EvidenceError(
            first.problem,
            place=Place(str(log / first.file)),
            expected=first.expected,
            found=first.found,
            code=first.code,
        )
    return head.checkpoint


def _only_grew(log: Path, head: Checkpoint, seen: _Seen | None) -> None:
    """The entries lead to the signed root, and begin with those that were signed before."""
    if seen is not None and head.size < seen.size:
        raise _refusal(log, "the log was taken back", "rollback", f"at least {seen.size} entries", head.size)
    tree = Tree()
    roots: dict[int, bytes] = {0: tree.root()}
    for number, entry in enumerate(read_raw(log), 1):
        tree.add(leaf_hash(entry))
        if number in (head.size, seen.size if seen else 0):
            roots[number] = tree.root()
        if number == head.size:
            break
    if roots.get(head.size) != head.root:
        raise _refusal(log, "the entries are not those that were signed", "root_differs", head.root.hex(), tree.size)
    if seen is not None and roots[seen.size].hex() != seen.root:
        raise _refusal(
            log, f"another log than the one witnessed at size {seen.size}", "fork", seen.root, roots[seen.size].hex()
        )


def _refusal(log: Path, problem: str, code: str, expected: str, found: Any) -> EvidenceError:
    return EvidenceError(
        problem,
        place=Place(str(log)),
        expected=expected,
        found=found,
        fix="nothing was signed; ask whoever keeps this log",
        code=code,
    )
