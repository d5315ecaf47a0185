"""Read a manifest and records from files and reduce them: the edge that touches the disk.

Never raises for what a file holds: malformed JSON or an unreadable file is ``input_read``, a doubled key
``duplicate_json_key``, NaN or Infinity ``schema``. Inputs are only read. Left out: what the values mean.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, Final

import jiter

from proctor.errors import shorten
from proctor.usage.chain import draw_chains
from proctor.usage.fast import reduce_fast_bytes, without_collection
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.reduce import reduce_careful
from proctor.usage.result import invalid_result, version_of

__all__ = ["MAX_BYTES", "draw_files", "parse_document", "read_document", "reduce_files"]

MAX_BYTES: Final = 4 * 1024**3
"""Largest file that is read."""


def reduce_files(manifest: str | Path, records: str | Path) -> dict[str, Any]:
    """The published result for two files; broken or unreadable input is an invalid result, never an exception."""
    version = 1
    try:
        manifest_bytes = read_document(manifest)
        records_bytes = read_document(records)
        fast = reduce_fast_bytes(manifest_bytes, records_bytes)
        if fast is not None:
            return fast
        parsed = parse_document(manifest_bytes, manifest)
        version = version_of(parsed)
        return reduce_careful(parsed, parse_document(records_bytes, records))
    except AccountingError as error:
        return invalid_result(error, version)


def draw_files(manifest: str | Path, records: str | Path) -> str:
    """The chains of two files that ``reduce_files`` found valid, as text. Raises ``AccountingError``."""
    values = [parse_document(read_document(path), path) for path in (manifest, records)]
    return draw_chains(*values)


def read_document(path: str | Path) -> bytes:
    """All bytes of a regular file. Raises ``AccountingError`` (``input_read``)."""
    name = shorten(str(path))
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise AccountingError(Fault.INPUT_READ, f"{name}: not a regular file")
        if status.st_size > MAX_BYTES:
            raise AccountingError(Fault.INPUT_READ, f"{name}: larger than {MAX_BYTES:,} bytes")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise AccountingError(Fault.INPUT_READ, f"{name}: can't read the file: {reason}") from error


def parse_document(data: bytes, path: str | Path) -> Any:
    """One JSON document, strictly. Raises ``AccountingError``: ``input_read``, ``duplicate_json_key``, ``schema``."""
    try:
        with without_collection():
            return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        raise _explain(data, str(error), shorten(str(path))) from None


def _explain(data: bytes, text: str, name: str) -> AccountingError:
    if text.startswith("Detected duplicate key"):
        return AccountingError(Fault.DUPLICATE_JSON_KEY, f"{name}: {text}")
    what, _, place = text.rpartition(" at line ")
    line, _, column = place.partition(" column ")
    if what in ("expected value", "invalid number") and line.isdigit() and column.isdigit():
        offset = max(0, _start_of_line(data, int(line)) + int(column) - 1)
        if data.startswith((b"NaN", b"Infinity"), offset):
            return AccountingError(Fault.SCHEMA, f"{name}: NaN or Infinity at line {place}")
    return AccountingError(Fault.INPUT_READ, f"{name}: malformed JSON: {text}")


def _start_of_line(data: bytes, line: int) -> int:
    """Where a line, counted from 1, starts; whole blocks are skipped by counting, so 100 MB of lines take no time."""
    block, start, before = 1 << 16, 0, line - 1
    while before > 0 and (n_lines := data.count(b"\n", start, start + block)) < before and start < len(data):
        start, before = start + block, before - n_lines
    for _ in range(before):
        start = data.find(b"\n", start) + 1
    return start
