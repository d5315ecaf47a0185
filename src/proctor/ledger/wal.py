"""The file that a log is while it is open: every entry, in order, as it was written. Pure but for the bytes
given.

The file starts with the line ``proctor.wal/1 ORIGIN``. Each record is its length in four big-endian bytes,
the byte 0x00, the entry, and the first eight bytes of the entry's leaf hash (RFC 9162: SHA-256 over ``0x00 ‖
entry``); the length counts the 0x00 and the entry. ``scan`` says how far a file is whole and what stands
after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO, Final

from proctor.ledger.tiles import ENTRY_LIMIT_BYTES

__all__ = ["CHECK_BYTES", "WAL_NAME", "Scan", "header", "pack_length", "read_entries", "scan"]

WAL_NAME: Final = "wal"
CHECK_BYTES: Final = 8
_LENGTH_BYTES: Final = 4
_MAGIC: Final = b"proctor.wal/1 "
_KIND: Final = b',"kind":"'
_RESYNC: Final = b'\x00{"actor":"'

pack_length = Struct(">I").pack


def header(origin: str) -> bytes:
    """The first line."""
    return _MAGIC + origin.encode() + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a file holds.

    ``origin`` is None where not even the first line is whole. ``hashes`` are the leaf hashes of the whole
    records, ``end`` the byte after them, ``after`` how many whole records stand behind the first damaged one:
    0 is a torn tail, more is damage in the middle. ``last_kind`` is the kind of the last whole record.
    """

    origin: str | None
    hashes: list[bytes]
    end: int
    after: int
    last_kind: str | None = None


def scan(data: bytes) -> Scan:
    """Read a whole file and check every record."""
    start = data.find(b"\n") + 1
    if not start or not data.startswith(_MAGIC):
        return Scan(origin=None, hashes=[], end=0, after=_count_later(data, 0))
    try:
        origin = data[len(_MAGIC) : start - 1].decode()
    except UnicodeDecodeError:
        return Scan(origin=None, hashes=[], end=0, after=_count_later(data, 0))
    hashes: list[bytes] = []
    at = start
    last = at, at
    while (found := _record_at(data, at)) is not None:
        last = at, found[1]
        at = found[1]
        hashes.append(found[0])
    return Scan(origin=origin, hashes=hashes, end=at, after=_count_later(data, at), last_kind=_kind_in(data, *last))


def _record_at(data: bytes, at: int) -> tuple[bytes, int] | None:
    """Leaf hash of the record at ``at`` and the byte after it, or None where none is whole there."""
    start = at + _LENGTH_BYTES
    length = int.from_bytes(data[at:start], "big")
    end = start + length + CHECK_BYTES
    if not 1 < length <= ENTRY_LIMIT_BYTES + 1 or end > len(data) or data[start] != 0:
        return None
    leaf_hash = hashlib.sha256(data[start : start + length]).digest()
    return (leaf_hash, end) if data[start + length : end] == leaf_hash[:CHECK_BYTES] else None


def _kind_in(data: bytes, start: int, end: int) -> str | None:
    """The kind that the record in ``data[start:end]`` says it is, None where there is no record."""
    mark = data.rfind(_KIND, start, end)
    if mark < 0:
        return None
    return data[mark + len(_KIND) : data.find(b'"', mark + len(_KIND))].decode("utf-8", "replace")


def _count_later(data: bytes, at: int) -> int:
    """Whole records after ``at``, wherever they start."""
    count = 0
    while (hit := data.find(_RESYNC, at)) >= 0:
        found = _record_at(data, hit - _LENGTH_BYTES) if hit >= _LENGTH_BYTES else None
        count += found is not None
        at = hit + 1 if found is None else found[1]
    return count


def read_entries(stream: BinaryIO) -> Iterator[bytes]:
    """The entries of an open file, unchecked, up to its end or the first record that is cut short."""
    stream.readline()
    while len(head := stream.read(_LENGTH_BYTES)) == _LENGTH_BYTES:
        length = int.from_bytes(head, "big")
        record = stream.read(length + CHECK_BYTES)
        if len(record) < length + CHECK_BYTES:
            return
        yield record[1:length]
