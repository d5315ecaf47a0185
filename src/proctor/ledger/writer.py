"""The one writer of a log: append, commit, checkpoint, close, and recovery after a crash.

While a log is open its truth is the file ``wal`` (``ledger.wal``): an entry is written there before
``append`` returns, and on the disk once ``commit`` returns. ``checkpoint`` signs the head; ``close`` writes
tiles and entry bundles (C2SP tlog-tiles), the last checkpoint, and removes ``wal``. Any error while writing
or syncing closes the log for good: a write that is tried again may lie. Not for several threads at once; two
writers on one log are refused. Left out: what the entries mean.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from proctor.clock import Clock
from proctor.errors import EvidenceError, InfrastructureError, Place, UsageError
from proctor.ledger.entries import Entry, Recovered
from proctor.ledger.envelope import encode_leaf, encode_leaves
from proctor.ledger.files import (
    DISK,
    FileOps,
    closing_on_error,
    lock,
    sync_folder,
    write_all,
    write_atomically,
    write_new,
)
from proctor.ledger.keys import Signer, is_key_name
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint, sign_note
from proctor.ledger.recover import inspect, move_tail_aside, remove_derived
from proctor.ledger.tiles import ENTRY_LIMIT_BYTES, WIDTH, Tree, bundle_path, pack_bundle
from proctor.ledger.wal import CHECK_BYTES, WAL_NAME, header, pack_length, read_entries

__all__ = ["LogWriter"]

CHECKPOINT_ENTRIES: Final = 1_000
CHECKPOINT_SECONDS: Final = 1.0

_T = TypeVar("_T")
_sha256 = hashlib.sha256


class LogWriter:
    """An open log. Make one with ``create`` or ``recover``."""

    def __init__(
        self, folder: Path, fd: int, *, tree: Tree, origin: str, signer: Signer, clock: Clock, ops: FileOps
    ) -> None:
        self.folder = folder
        self.origin = origin
        self._fd = fd
        self._tree = tree
        self._size = tree.size
        self._signer = signer.renamed(origin)
        self._clock = clock
        self._ops = ops
        self._stopped: str | None = None
        self._dirty = False
        self._signed_size = -1
        self._signed_at = 0.0
        self._last_ns = 0

    @property
    def last_ns(self) -> int:
        """Time of the entry that was written last (ns since the epoch), 0 before the first: the recorder needs it
        for the trace."""
        return self._last_ns

    @classmethod
    def create(cls, folder: Path, *, origin: str, signer: Signer, clock: Clock, ops: FileOps = DISK) -> LogWriter:
        """A new, empty log in ``folder`` (made if need be).

        Raises ``UsageError`` where the folder holds a log already or ``signer`` does not sign for ``origin``.
        """
        _check_origin(origin, signer)
        folder.mkdir(parents=True, exist_ok=True)
        wal = folder / WAL_NAME
        if (folder / CHECKPOINT_NAME).exists() or (folder / "tile").exists():
            raise _already(folder)
        try:
            fd = ops.open(wal, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except FileExistsError:
            raise _already(folder) from None
        with closing_on_error(ops, fd):
            lock(fd, wal)
            self = cls(folder, fd, tree=Tree(), origin=origin, signer=signer, clock=clock, ops=ops)
            self._write(header(origin))
            self._sync()
            self._guard(sync_folder, ops, folder)
        return self

    @classmethod
    def recover(
        cls,
        folder: Path,
        *,
        origin: str,
        signer: Signer,
        clock: Clock,
        ops: FileOps = DISK,
        only_if_torn: bool = False,
    ) -> LogWriter:
        """Open a log that a crash left open, and note that in a ``recovered`` entry (unless the run had ended in it:
        then only ``close`` is left).

        ``only_if_torn`` leaves the entry out where nothing was torn: for a log that is never closed.
        A torn tail is moved to ``torn/<n>`` (n: the entries before it), never dropped. Raises
        ``EvidenceError`` and changes nothing where whole entries stand behind the damage, or where the
        checkpoint has signed more than the file holds, or something else.
        """
        _check_origin(origin, signer)
        wal = folder / WAL_NAME
        try:
            fd = ops.open(wal, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            raise EvidenceError(
                "there is no open log here",
                place=Place(str(wal)),
                expected="the file that an open log is kept in",
                code="no_open_log",
            ) from None
        with closing_on_error(ops, fd):
            lock(fd, wal)
            found = inspect(folder, wal.read_bytes(), origin)
            self = cls(folder, fd, tree=found.tree, origin=origin, signer=signer, clock=clock, ops=ops)
            aside = self._guard(move_tail_aside, ops, folder, fd, found)
            if not found.is_ended and (aside or not only_if_torn):
                self.append(Recovered(bytes=len(aside), sha256=_sha256(aside).hexdigest()))
                self.commit()
        return self

    @property
    def size(self) -> int:
        """Entries so far."""
        return self._size

    @property
    def root(self) -> bytes:
        """Root over the entries so far (32 bytes)."""
        return self._tree.root()

    def append(self, entry: Entry) -> int:
        """Write one entry and return its number. It outlives this process; ``commit`` makes it outlive the
        machine.
        """
        seq = self._size
        self._last_ns = self._clock.now_ns()
        leaf = encode_leaf(entry, seq, str(self._last_ns))
        if len(leaf) > ENTRY_LIMIT_BYTES + 1:
            raise _too_large(entry.kind, len(leaf) - 1)
        leaf_hash = _sha256(leaf).digest()
        self._write(pack_length(len(leaf)) + leaf + leaf_hash[:CHECK_BYTES])
        self._tree.add(leaf_hash)
        self._size = seq + 1
        return seq

    def append_many(self, entries: Iterable[Entry]) -> range:
        """Write entries of one instant together, in one write, and return their numbers."""
        first = self._size
        t_ns = self._clock.now_ns()
        leaves = encode_leaves(entries, first, str(t_ns))
        if not leaves:
            return range(first, first)
        self._last_ns = t_ns
        sizes = list(map(len, leaves))
        if max(sizes) > ENTRY_LIMIT_BYTES + 1:
            raise _too_large("one of them", max(sizes) - 1)
        hashes = [_sha256(leaf).digest() for leaf in leaves]
        checks = [one[:CHECK_BYTES] for one in hashes]
        self._write(b"".join(itertools.chain.from_iterable(zip(map(pack_length, sizes), leaves, checks, strict=True))))
        self._tree.extend(hashes)
        self._size = first + len(hashes)
        return range(first, self._size)

    def commit(self) -> None:
        """Return once every entry so far is on the disk. Signs a checkpoint where one is due.

        One is due every second, every 1,000 entries, and at the first commit.
        """
        self._sync()
        due = self._clock.monotonic() - self._signed_at >= CHECKPOINT_SECONDS
        if self._size > self._signed_size and (
            due or self._signed_size < 0 or self._size - self._signed_size >= CHECKPOINT_ENTRIES
        ):
            self._sign()

    def checkpoint(self) -> Checkpoint:
        """Put everything on the disk and sign its head."""
        self._sync()
        return self._sign()

    def close(self) -> Checkpoint:
        """Finish the log: tiles, entry bundles and the last checkpoint; then ``wal`` is gone."""
        self._sync()
        self._guard(self._write_files)
        checkpoint = self._sign()
        self._guard(self._ops.unlink, self.folder / WAL_NAME)
        self._guard(sync_folder, self._ops, self.folder)
        self.abandon()
        return checkpoint

    def abandon(self) -> None:
        """Let go of the file and leave the log open, as a crash would."""
        if self._fd >= 0:
            self._ops.close(self._fd)
            self._fd = -1
        self._stopped = self._stopped or "it was closed"

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _write(self, data: bytes) -> None:
        if self._stopped is not None:
            raise self._refusal()
        try:
            done = self._ops.write(self._fd, data)
            if done != len(data):
                write_all(self._ops, self._fd, data[done:])
        except BaseException as error:
            self._stopped = f"writing failed: {error}"
            if isinstance(error, OSError):
                raise self._refusal() from error
            raise
        self._dirty = True

    def _sync(self) -> None:
        if self._stopped is not None:
            raise self._refusal()
        if self._dirty:
            self._guard(self._ops.sync, self._fd)
            self._dirty = False

    def _guard(self, action: Callable[..., _T], *args: Any) -> _T:
        """Do something on the disk; if it fails, the log is closed for good."""
        if self._stopped is not None:
            raise self._refusal()
        try:
            return action(*args)
        except BaseException as error:
            self._stopped = f"{getattr(action, '__name__', 'writing').strip('_')} failed: {error}"
            if isinstance(error, OSError):
                raise self._refusal() from error
            raise

    def _refusal(self) -> InfrastructureError:
        return InfrastructureError(
            "the log takes no more entries",
            place=Place(str(self.folder)),
            expected="an open log",
            found=self._stopped,
            fix="see to the disk, then resume the run: what was committed is safe",
            code="log_stopped",
        )

    def _sign(self) -> Checkpoint:
        checkpoint = Checkpoint(origin=self.origin, size=self._size, root=self._tree.root())
        note = sign_note(checkpoint.text, self._signer)
        self._guard(write_atomically, self._ops, self.folder / CHECKPOINT_NAME, note)
        self._signed_size = self._size
        self._signed_at = self._clock.monotonic()
        return checkpoint

    def _write_files(self) -> None:
        """Tiles and bundles, synced with their folders. What an earlier, interrupted close left is
        rewritten.
        """
        remove_derived(self.folder)
        folders: dict[Path, None] = {}
        for name, data in self._files():
            path = self.folder / name
            write_new(self._ops, path, data)
            folders.update(dict.fromkeys(path.relative_to(self.folder).parents))
        for folder in folders:
            sync_folder(self._ops, self.folder / folder)

    def _files(self) -> Iterator[tuple[str, bytes]]:
        yield from self._tree.tiles()
        with (self.folder / WAL_NAME).open("rb") as stream:
            entries = read_entries(stream)
            for index in range((self._size + WIDTH - 1) // WIDTH):
                width = min(WIDTH, self._size - index * WIDTH)
                yield bundle_path(index, width), pack_bundle(list(itertools.islice(entries, width)))


def _check_origin(origin: str, signer: Signer) -> None:
    if not signer.public.signs_for(origin) or not is_key_name(origin):
        raise UsageError(
            "this key does not sign for this log",
            expected=f"an origin that starts with {signer.name}/ (`Signer.origin` makes one)",
            found=origin,
            code="origin_not_of_key",
        )


def _already(folder: Path) -> UsageError:
    return UsageError(
        "there is a log here already",
        place=Place(str(folder)),
        expected="a folder without one",
        fix="use another folder, or resume the run that is in it",
        code="log_exists",
    )


def _too_large(what: str, size: int) -> EvidenceError:
    return EvidenceError(
        "the entry is too large for a log",
        place=Place(field=what),
        expected=f"at most {ENTRY_LIMIT_BYTES:,} bytes; texts go beside the log",
        found=f"{size:,} bytes",
        code="entry_too_large",
    )
