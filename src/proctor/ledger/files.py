"""The few operations on files that a log is made of, as one object, so that tests can make each of them fail.

Nothing here retries or repairs: an error goes to the caller, which stops writing.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.errors import InfrastructureError, Place

__all__ = ["DISK", "FileOps", "closing_on_error", "lock", "sync_folder", "write_all", "write_atomically", "write_new"]


class FileOps:
    """Operations on the machine's disk. ``write`` may write less than it was given."""

    write = staticmethod(os.write)
    close = staticmethod(os.close)

    def open(self, path: Path, flags: int) -> int:
        """A descriptor for the file; new files are readable by all and writable by the owner."""
        return os.open(path, flags | os.O_CLOEXEC, 0o644)

    def sync(self, fd: int) -> None:
        """Return once the file's bytes are on the disk (``fdatasync``; on macOS ``F_FULLFSYNC``)."""
        if sys.platform == "darwin":
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Put ``source`` in ``target``'s place, atomically."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()


DISK = FileOps()


def write_all(ops: FileOps, fd: int, data: bytes | bytearray) -> None:
    """Write every byte, in as many writes as it takes. Raises ``OSError`` where the disk takes no more."""
    done = ops.write(fd, data)
    while done < len(data):
        more = ops.write(fd, data[done:])
        if more <= 0:
            raise OSError(f"the disk took {done} of {len(data)} bytes")
        done += more


def sync_folder(ops: FileOps, folder: Path) -> None:
    """Make the names in a folder durable."""
    fd = ops.open(folder, os.O_RDONLY)
    try:
        ops.sync(fd)
    finally:
        ops.close(fd)


def write_new(ops: FileOps, path: Path, data: bytes) -> None:
    """Write a file that must not exist yet, and sync its bytes (not its name). Makes the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        write_all(ops, fd, data)
        ops.sync(fd)
    finally:
        ops.close(fd)


def write_atomically(ops: FileOps, path: Path, data: bytes) -> None:
    """Replace a file by new bytes: a reader sees all of the old or all of the new, also after a power cut."""
    temporary = path.with_name(path.name + ".new")
    fd = ops.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(ops, fd, data)
        ops.sync(fd)
    finally:
        ops.close(fd)
    ops.rename(temporary, path)
    sync_folder(ops, path.parent)


@contextmanager
def closing_on_error(ops: FileOps, fd: int) -> Iterator[None]:
    """Let go of a file (and so of its lock) if what follows fails."""
    try:
        yield
    except BaseException:
        ops.close(fd)
        raise


def lock(fd: int, path: Path) -> None:
    """Take the file for this writer alone. Raises ``InfrastructureError`` where another one has it."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InfrastructureError(
            "another process is writing this log",
            place=Place(str(path)),
            fix="wait for that run to end, or end it",
            code="log_locked",
        ) from error
