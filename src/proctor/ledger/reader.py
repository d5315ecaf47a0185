"""Reading a log entry by entry, closed or open, without believing it: that is ``ledger.verify``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from proctor.errors import EvidenceError, Place
from proctor.ledger.envelope import Record, read_entry
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint, parse_checkpoint, split_note
from proctor.ledger.tiles import bundle_paths, unpack_bundle
from proctor.ledger.wal import WAL_NAME, read_entries

__all__ = ["is_open", "read_checkpoint", "read_log", "read_raw"]


def is_open(folder: Path) -> bool:
    """Whether the log was never closed: a run that is going on, or that a crash ended."""
    return (folder / WAL_NAME).exists()


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """The log's head as it says, unverified; None where none was signed yet."""
    path = folder / CHECKPOINT_NAME
    if not path.exists():
        return None
    text, _ = split_note(path.read_bytes(), file=str(path))
    return parse_checkpoint(text, file=str(path))


def read_raw(folder: Path) -> Iterator[bytes]:
    """The bytes of every entry, in order; of an open log, of the whole ones."""
    if is_open(folder):
        with (folder / WAL_NAME).open("rb") as stream:
            yield from read_entries(stream)
        return
    checkpoint = read_checkpoint(folder)
    if checkpoint is None:
        raise EvidenceError(
            "there is no log here",
            place=Place(str(folder)),
            expected=f"a folder with {CHECKPOINT_NAME} or {WAL_NAME}",
            code="no_log",
        )
    for name, width in bundle_paths(checkpoint.size):
        path = folder / name
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise EvidenceError(
                "an entry bundle is missing",
                place=Place(str(path)),
                expected=f"{width} entries",
                code="missing_file",
            ) from None
        yield from unpack_bundle(data, width, file=str(path))


def read_log(folder: Path, *, start: int = 0, stop: int | None = None) -> Iterator[Record]:
    """Every entry, typed and strictly checked, from number ``start`` up to (not with) ``stop``.

    Raises ``EvidenceError`` at the first that is none.
    """
    raw = itertools.islice(enumerate(read_raw(folder)), start, stop)
    for seq, data in raw:
        yield read_entry(data, seq, file=str(folder))
