"""What a crash left of a log: how much of it is whole, and moving a torn tail aside. Destroys no evidence.

Refused, with nothing changed: damage with whole entries behind it (somebody changed a byte, no crash does
that to a file that only grows), a checkpoint that signed more than the file holds, or another root.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import EvidenceError, Place
from proctor.ledger.entries import RunEnd
from proctor.ledger.files import FileOps, sync_folder, write_all, write_atomically
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint, parse_checkpoint, split_note
from proctor.ledger.tiles import Tree
from proctor.ledger.wal import WAL_NAME, header, scan

__all__ = ["TORN_NAME", "Remains", "inspect", "move_tail_aside", "remove_derived", "signed_part_holds"]

TORN_NAME = "torn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """The whole part of an open log as a tree, where it ends, and the bytes behind it.

    ``is_ended``: its last entry is the end of a run, so that only closing it is left.
    """

    origin: str
    tree: Tree
    end: int
    tail: bytes
    is_ended: bool


def inspect(folder: Path, data: bytes, origin: str) -> Remains:
    """Check the bytes of ``wal`` against themselves and the checkpoint. Raises ``EvidenceError``."""
    path = folder / WAL_NAME
    found = scan(data)
    if found.after or (found.origin is None and data != header(origin)[: len(data)]):
        raise EvidenceError(
            "the log is damaged in the middle",
            place=Place(str(path), field=f"byte {found.end}"),
            expected="whole entries up to a torn tail",
            found=f"{len(found.hashes)} whole entries, then damage, then {found.after} whole entries",
            fix="nothing was changed; restore the file from a copy, or start a new run",
            code="damaged_middle",
        )
    if found.origin not in (None, origin):
        raise EvidenceError(
            "the log belongs to another origin",
            place=Place(str(path), field="line 1"),
            expected=origin,
            found=found.origin,
            code="wrong_origin",
        )
    tree = Tree()
    tree.extend(found.hashes)
    checkpoint = _checkpoint(folder)
    if checkpoint is not None:
        signed_part_holds(checkpoint, found.hashes, path)
    return Remains(
        origin=origin, tree=tree, end=found.end, tail=data[found.end :], is_ended=found.last_kind == RunEnd.kind
    )


def _checkpoint(folder: Path) -> Checkpoint | None:
    path = folder / CHECKPOINT_NAME
    if not path.exists():
        return None
    text, _ = split_note(path.read_bytes(), file=str(path))
    return parse_checkpoint(text, file=str(path))


def signed_part_holds(checkpoint: Checkpoint, hashes: list[bytes], path: Path) -> None:
    """Whether the log still begins with what a checkpoint signed. Raises ``EvidenceError``."""
    if checkpoint.size > len(hashes):
        raise EvidenceError(
            "entries that a checkpoint signed are gone or damaged",
            place=Place(str(path), field=f"entry {len(hashes)}"),
            expected=f"at least {checkpoint.size} whole entries",
            found=f"{len(hashes)}",
            fix="nothing was changed; restore the file from a copy, or start a new run",
            code="signed_part_lost",
        )
    tree = Tree()
    tree.extend(hashes[: checkpoint.size])
    if tree.root() != checkpoint.root:
        raise EvidenceError(
            "entries differ from what a checkpoint signed",
            place=Place(str(path), field=f"entries 0 to {checkpoint.size - 1}"),
            expected=f"root {checkpoint.root.hex()}",
            found=tree.root().hex(),
            fix="nothing was changed; restore the file from a copy, or start a new run",
            code="signed_part_changed",
        )


def move_tail_aside(ops: FileOps, folder: Path, fd: int, remains: Remains) -> bytes:
    """Keep the torn tail under ``torn/``, then cut it from the open file; both are synced.

    Returns what is kept there: more than the tail where an earlier recovery was interrupted.
    """
    path = folder / TORN_NAME / str(remains.tree.size)
    aside = path.read_bytes() if path.exists() else b""
    if remains.tail and remains.tail != aside:
        path.parent.mkdir(exist_ok=True)
        aside += remains.tail
        write_atomically(ops, path, aside)
        sync_folder(ops, folder)
    os.ftruncate(fd, remains.end)
    if remains.end == 0:
        write_all(ops, fd, header(remains.origin))
    ops.sync(fd)
    return aside


def remove_derived(folder: Path) -> None:
    """Remove what a close that was interrupted wrote: tiles and bundles, all made from ``wal``, which is
    whole.
    """
    if (folder / "tile").exists():
        shutil.rmtree(folder / "tile")
