"""Plain JSON values in memory: exact types, finite numbers, valid Unicode; their canonical bytes and digest.

The digest of a record is SHA-256 over its JSON text with sorted keys, no spaces and non-ASCII characters kept.
Left out: what a record's keys mean.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from proctor.errors import shorten
from proctor.usage.faults import AccountingError, Fault

__all__ = ["COUNT_LIMIT", "ID", "canonical", "check_plain", "is_count", "is_id", "record_digest"]

COUNT_LIMIT: Final = 2**63 - 1
"""Largest count of tokens or requests; nothing real comes near, and sums stay printable."""

ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
"""What every identity looks like; use ``fullmatch``."""

_MAX_DEPTH: Final = 128
_MAX_NODES: Final = 2_000_000
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_HUGE: Final = 10**4000


def is_id(value: object) -> bool:
    """Whether a value is an identity: 1 to 128 characters of a fixed ASCII set."""
    return type(value) is str and ID.fullmatch(value) is not None


def is_count(value: object) -> bool:
    """Whether a value is a non-negative integer (no boolean, no float) within ``COUNT_LIMIT``."""
    return type(value) is int and 0 <= value <= COUNT_LIMIT


def check_plain(value: object, where: str) -> None:
    """Raise ``AccountingError`` (``schema``) unless a value is JSON of exact built-in types, however hostile."""
    stack: list[tuple[object, int]] = [(value, 1)]
    n_nodes = 0
    while stack:
        item, depth = stack.pop()
        n_nodes += 1
        if depth > _MAX_DEPTH or n_nodes > _MAX_NODES:
            raise AccountingError(Fault.SCHEMA, f"{where}: nested too deeply, or too large")
        if type(item) is dict:
            for key in item:
                _check_scalar(key if type(key) is str else object(), where)
            stack.extend((child, depth + 1) for child in item.values())
        elif type(item) is list:
            stack.extend((child, depth + 1) for child in item)
        else:
            _check_scalar(item, where)


def _check_scalar(item: object, where: str) -> None:
    if item is None or type(item) is bool:
        return
    if type(item) is str:
        if not item.isascii() and _SURROGATE.search(item):
            raise AccountingError(Fault.SCHEMA, f"{where}: lone surrogate in a string")
    elif type(item) is int:
        if not -_HUGE < item < _HUGE:
            raise AccountingError(Fault.SCHEMA, f"{where}: a number with more than 4,000 digits")
    elif type(item) is float:
        if item - item != 0.0:
            raise AccountingError(Fault.SCHEMA, f"{where}: NaN or infinity")
    else:
        raise AccountingError(Fault.SCHEMA, f"{where}: not a JSON value ({shorten(type(item).__name__, 40)})")


def canonical(record: Any) -> bytes:
    """The bytes that a record's digest covers; the value must be plain (``check_plain``)."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def record_digest(record: Any) -> str:
    """``record_sha256`` of a record: 64 hexadecimal digits. Raises ``AccountingError`` (``schema``)."""
    check_plain(record, "record")
    return hashlib.sha256(canonical(record)).hexdigest()
