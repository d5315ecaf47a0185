"""A run folder's list of files, and the end of a run's log that fixes it.

Links, sockets and anything else that is no plain file have no place in a run folder; they are refused, not skipped.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from proctor.errors import EvidenceError, Place
from proctor.ledger.entries import FileDigest, RunEnd, RunFiles
from proctor.ledger.note import Checkpoint
from proctor.ledger.writer import LogWriter

__all__ = ["LEDGER_NAME", "SEAL_NAME", "close_run", "digest_of", "list_files", "walk"]

LEDGER_NAME: Final = "ledger"
SEAL_NAME: Final = "seal.dsse.json"
_PART_BYTES: Final = 48_000


def walk(folder: Path, *, skip: frozenset[str] = frozenset()) -> Iterator[os.DirEntry[str]]:
    """Everything in a folder that is no folder, in the order of names; links are not followed.

    ``skip`` are names at the top that are left out.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name.encode("utf-8", "surrogateescape"))
    for entry in entries:
        if entry.name in skip:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))
        else:
            yield entry


def digest_of(path: Path) -> tuple[int, str]:
    """Size and SHA-256 (hexadecimal) of a file, read in pieces."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return stream.tell(), digest


def list_files(run: Path) -> list[FileDigest]:
    """Path, size and digest of every file of a run outside ``ledger/`` and the seal, ordered by path.

    Raises ``EvidenceError`` for a link or special file.
    """
    files = []
    for entry in walk(run, skip=frozenset((LEDGER_NAME, SEAL_NAME))):
        path = Path(entry.path)
        if not entry.is_file(follow_symlinks=False):
            raise EvidenceError(
                "not a plain file",
                place=Place(str(path)),
                expected="files and folders only",
                found="a link or special file",
                fix="whatever made it must write a file instead",
                code="special_file",
            )
        size, digest = digest_of(path)
        files.append(FileDigest(bytes=size, path=path.relative_to(run).as_posix(), sha256=digest))
    return sorted(files, key=lambda file: file.path.encode())


def close_run(log: LogWriter, run: Path) -> Checkpoint:
    """End a run: list its files in the log, then close the log. The folder must not change any more."""
    parts: list[list[FileDigest]] = [[]]
    size = 0
    for file in list_files(run):
        size += 100 + 6 * len(file.path.encode())
        if size > _PART_BYTES:
            parts.append([])
            size = 100 + 6 * len(file.path.encode())
        parts[-1].append(file)
    for part in parts[:-1]:
        log.append(RunFiles(files=tuple(part)))
    log.append(RunEnd(files=tuple(parts[-1])))
    return log.close()
