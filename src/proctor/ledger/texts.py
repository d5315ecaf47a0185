"""Texts beside a log, each under a salted commitment, so that one can be withheld and no proof breaks.

One append-only file a writer: ``texts/NN``, frames of length (four big-endian bytes), salt (16 random bytes)
and the text's bytes. A text's reference is ``sha256:`` and the SHA-256 over salt and bytes; entries hold only
that, and with a salt of its own a short text can't be guessed back from it. Frames are found by hashing them,
so a changed one is simply no longer there. Left out: which texts an entry needs.
"""

from __future__ import annotations

import hashlib
import itertools
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proctor.clock import Randomness, SystemRandomness
from proctor.errors import EvidenceError, InfrastructureError, Place, UsageError
from proctor.ledger.files import DISK, FileOps, closing_on_error, lock, sync_folder, write_all, write_atomically
from proctor.ledger.wal import pack_length

__all__ = ["SALT_BYTES", "TextFrame", "TextReader", "TextStore", "read_frames"]

SALT_BYTES: Final = 16
_LENGTH_BYTES: Final = 4
_HEAD: Final = _LENGTH_BYTES + SALT_BYTES
_BLOCK: Final = 1024
TEXT_LIMIT_BYTES: Final = 256 * 1024 * 1024

_sha256 = hashlib.sha256


class TextStore:
    """The texts of one writer. Make one with ``create`` or ``recover``. Not for several threads at once."""

    def __init__(self, path: Path, fd: int, *, randomness: Randomness, ops: FileOps) -> None:
        self.path = path
        self._fd = fd
        self._randomness = randomness
        self._ops = ops
        self._salts: list[bytes] = []
        self._dirty = False
        self._stopped: str | None = None

    @classmethod
    def create(cls, path: Path, *, randomness: Randomness | None = None, ops: FileOps = DISK) -> TextStore:
        """A new file at ``path``. Raises ``UsageError`` where there is one already."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fd = ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except FileExistsError:
            raise UsageError("there are texts here already", place=Place(str(path)), code="texts_exist") from None
        with closing_on_error(ops, fd):
            lock(fd, path)
            sync_folder(ops, path.parent)
        return cls(path, fd, randomness=randomness or SystemRandomness(), ops=ops)

    @classmethod
    def recover(cls, path: Path, *, randomness: Randomness | None = None, ops: FileOps = DISK) -> TextStore:
        """Open the file after a crash; a torn last frame is moved to ``NN.torn-OFFSET`` beside it.

        A file that the crash came before is made.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = ops.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with closing_on_error(ops, fd):
            lock(fd, path)
            data = path.read_bytes()
            end = 0
            for frame in read_frames(data):
                end = frame.end
            if end < len(data):
                write_atomically(ops, path.with_name(f"{path.name}.torn-{end}"), data[end:])
                os.ftruncate(fd, end)
            ops.sync(fd)
            sync_folder(ops, path.parent)
        return cls(path, fd, randomness=randomness or SystemRandomness(), ops=ops)

    def put(self, data: bytes) -> str:
        """Write a text and return its reference. It outlives this process; ``commit`` makes it outlive the
        machine.
        """
        salted = self._salt() + data
        self._write(pack_length(len(data)) + salted)
        return "sha256:" + _sha256(salted).hexdigest()

    def put_many(self, texts: Sequence[bytes]) -> list[str]:
        """Write texts in one write and return their references in the same order."""
        salts = self._salts
        if len(salts) < len(texts):
            salts = self._salts = salts + self._block(len(texts))
        pop, sha256 = salts.pop, _sha256
        salted = [pop() + data for data in texts]
        lengths = map(pack_length, map(len, texts))
        self._write(b"".join(itertools.chain.from_iterable(zip(lengths, salted, strict=True))))
        return ["sha256:" + sha256(one).hexdigest() for one in salted]

    def commit(self) -> None:
        """Return once every text so far is on the disk. Do this before the log's commit."""
        if self._stopped is not None:
            raise self._refusal()
        if self._dirty:
            try:
                self._ops.sync(self._fd)
            except OSError as error:
                self._stopped = f"syncing failed: {error}"
                raise self._refusal() from error
            self._dirty = False

    def close(self) -> None:
        """Commit and let go of the file."""
        self.commit()
        self.abandon()

    def abandon(self) -> None:
        """Let go of the file as it is."""
        if self._fd >= 0:
            self._ops.close(self._fd)
            self._fd = -1
        self._stopped = self._stopped or "it was closed"

    def __enter__(self) -> TextStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def _salt(self) -> bytes:
        if not self._salts:
            self._salts = self._block(1)
        return self._salts.pop()

    def _block(self, least: int) -> list[bytes]:
        n = max(least, _BLOCK)
        block = self._randomness.bytes(SALT_BYTES * n)
        return [block[at : at + SALT_BYTES] for at in range(0, SALT_BYTES * n, SALT_BYTES)]

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

    def _refusal(self) -> InfrastructureError:
        return InfrastructureError(
            "no more texts can be kept",
            place=Place(str(self.path)),
            expected="an open file",
            found=self._stopped,
            fix="see to the disk, then resume the run: what was committed is safe",
            code="texts_stopped",
        )


@dataclass(frozen=True, slots=True)
class TextFrame:
    """One frame of a file: the text's reference, where its bytes start and where they end."""

    ref: str
    start: int
    end: int


def read_frames(data: bytes | mmap.mmap) -> Iterator[TextFrame]:
    """The whole frames of a file, in order; stops at a torn one."""
    at = 0
    while at + _HEAD <= len(data):
        length = int.from_bytes(data[at : at + _LENGTH_BYTES], "big")
        end = at + _HEAD + length
        if end > len(data):
            return
        digest = _sha256(data[at + _LENGTH_BYTES : end]).hexdigest()
        yield TextFrame("sha256:" + digest, at + _HEAD, end)
        at = end


class TextReader:
    """All texts of a run, by reference. Every frame is hashed once, when the reader is made.

    ``torn`` are the files that end in the middle of a frame, with the byte where it starts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.torn: dict[Path, int] = {}
        self._places: dict[str, tuple[mmap.mmap, int, int]] = {}
        paths = sorted(p for p in folder.iterdir() if p.name.isdecimal() and p.is_file()) if folder.is_dir() else []
        for path in paths:
            size = path.stat().st_size
            if not size:
                continue
            with path.open("rb") as stream:
                data = mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ)
            end = 0
            for frame in read_frames(data):
                self._places[frame.ref] = (data, frame.start, frame.end)
                end = frame.end
            if end < size:
                self.torn[path] = end

    def __contains__(self, ref: str) -> bool:
        return ref in self._places

    def __len__(self) -> int:
        return len(self._places)

    def find(self, ref: str) -> bytes | None:
        """The text, or None where it is not here (withheld, or changed)."""
        place = self._places.get(ref)
        return None if place is None else place[0][place[1] : place[2]]

    def get(self, ref: str) -> bytes:
        """The text. Raises ``EvidenceError`` with code ``withheld`` where it is not here."""
        data = self.find(ref)
        if data is None:
            raise EvidenceError(
                "the text is withheld",
                place=Place(str(self.folder)),
                expected=f"a frame with commitment {ref}",
                code="withheld",
            )
        return data
