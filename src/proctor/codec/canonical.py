"""One canonical JSON form (RFC 8785), and digests over stored bytes.

Values of the restricted set that records are made of (no floats, integers within ±(2^53−1), no astral keys) are encoded
ten times faster than by ``rfc8785``, with the same bytes; a property test holds that.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

from proctor.kinds import INTEGER_LIMIT

__all__ = ["canonical_bytes", "digest_bytes", "digest_file", "digest_json", "sha256_hex"]

_fast = msgspec.json.Encoder(order="deterministic")


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Raises ``rfc8785.CanonicalizationError`` for what JSON can't say."""
    return _fast.encode(value) if _is_restricted(value) else rfc8785.dumps(value)


def _is_restricted(value: Any) -> bool:
    """Whether the fast encoder's bytes are the canonical ones for this value."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is str:
            if not item.isascii() and not _is_unicode(item):
                return False
        elif kind is dict:
            for key in item:
                if type(key) is not str or not (key.isascii() or _sorts_alike(key)):
                    return False
            stack.extend(item.values())
        elif kind is list or kind is tuple:
            stack.extend(item)
        elif kind is int:
            if not -INTEGER_LIMIT <= item <= INTEGER_LIMIT:
                return False
        elif kind is not bool and item is not None:
            return False
    return True


def _sorts_alike(key: str) -> bool:
    """Whether a key has the same place in the order of UTF-8, which the encoder sorts by, as in that of UTF-16."""
    return max(key) <= "\uffff" and _is_unicode(key)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sha256_hex(data: bytes) -> str:
    """64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_bytes(data: bytes) -> str:
    """``sha256:`` and the hash of exactly these bytes."""
    return "sha256:" + sha256_hex(data)


def digest_json(value: Any) -> str:
    """Digest of a JSON value's canonical bytes."""
    return digest_bytes(canonical_bytes(value))


def digest_file(path: str | Path) -> str:
    """Digest of a file's bytes, read in pieces."""
    with Path(path).open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
