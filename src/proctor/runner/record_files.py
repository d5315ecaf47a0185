"""Files of recorded evaluations: lines in, reports out. Left out: what the lines mean (``runner.records``)."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from proctor.codec.json_strict import DEFAULT_LIMITS
from proctor.errors import InvalidEvaluation, Place, UsageError
from proctor.report.records import GridReport

__all__ = ["open_lines", "result_files", "write_report"]

_MOST_LINE = DEFAULT_LIMITS.max_bytes
_CHUNK = 1 << 20


def write_report(report: GridReport, out: Path) -> None:
    """Write ``report.json`` whole or not at all, in the place of an older one. Raises ``UsageError``."""
    temporary = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(report.pieces())
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(out)
    except OSError as error:
        raise UsageError(
            f"can't write the report: {error.strerror}", place=Place(str(out)), expected="a file that can be written"
        ) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


@contextlib.contextmanager
def open_lines(path: Path) -> Iterator[tuple[Iterator[bytes], Callable[[], str]]]:
    """A file's lines without their ends, and the SHA-256 of exactly the bytes that were read."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InvalidEvaluation(
            f"can't read the file: {error.strerror}",
            place=Place(str(path)),
            expected="a readable JSONL file",
            fix="check the path",
            code="no_file",
        ) from error
    digest = hashlib.sha256()
    with stream:
        yield _lines(stream, digest.update), digest.hexdigest


def _lines(stream: BinaryIO, seen: Callable[[bytes], None]) -> Iterator[bytes]:
    """Lines end at ``\\n`` alone. A line over the limit is handed on cut, for the reader to refuse."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        seen(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
        if len(rest) > _MOST_LINE:
            yield rest
            return
    if rest:
        yield rest


def result_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files in the order given; a folder's by name. Raises ``InvalidEvaluation`` for one that is named twice."""
    seen: set[Path] = set()
    for path in paths:
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        for file in files:
            if file.resolve() in seen:
                raise InvalidEvaluation(
                    "this file is given twice", place=Place(str(file)), expected="each file once", fix="name it once"
                )
            seen.add(file.resolve())
            yield file
