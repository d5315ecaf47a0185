"""One canonical JSON form (RFC 8785), and digests over stored bytes.

``canonical_bytes`` accepts any JSON value and is exact (``rfc8785``). ``canonical_fast`` is ten times faster and
accepts the restricted set that records are made of: no floats, integers within ±(2^53−1), keys in ASCII; inside
that set both give the same bytes, which a property test holds.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

__all__ = ["canonical_bytes", "canonical_fast", "digest_bytes", "digest_file", "digest_json", "sha256_hex"]

_fast = msgspec.json.Encoder(order="deterministic")


def canonical_bytes(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Raises ``rfc8785.CanonicalizationError`` for what JSON can't say."""
    return rfc8785.dumps(value)


def canonical_fast(value: Any) -> bytes:
    """Canonical bytes of a value from the restricted set (the caller's types guarantee the set)."""
    return _fast.encode(value)


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
