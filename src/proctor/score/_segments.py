"""Keyed 64-bit hashes of many pieces of a byte buffer at once. Pure: the key comes from the caller.

Each piece is read as 32-bit words x₁…xₙ (zero-padded; the text holds no NUL, so padding adds no ambiguity) and
hashed twice with independent random 64-bit keys as the upper 32 bits of k₀ + Σ kᵢ·xᵢ mod 2⁶⁴: the multilinear
family, strongly universal (Lemire and Kaser, "Strongly universal string hashing is fast", 2014). Two different
texts therefore agree with a probability of 2⁻⁶⁴ at most, whatever they are, as long as the key is unknown to
whoever wrote them. Pieces above 1,024 bytes take keyed BLAKE2b instead. Zero is never a hash: it means "absent".
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["I64", "PADDING", "U8", "U64", "SegmentHash"]

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_WIDTHS = (16, 32, 64, 128, 256, 512, 1024)
PADDING = _WIDTHS[-1]
"""Bytes that must follow the data in every buffer that is hashed."""

_UPPER = np.uint64(0xFFFF_FFFF_0000_0000)
_HALF = np.uint64(32)


class SegmentHash:
    """One secret key, and the hashes under it. Safe to share between threads."""

    def __init__(self, seed: bytes) -> None:
        words = PADDING // 4 + 1
        digest = hashlib.shake_256(seed).digest(16 * words)
        self._keys = np.frombuffer(digest, dtype="<u8").astype(np.uint64).reshape(2, words)
        self._long_key = hashlib.sha256(seed).digest()
        self._masks = {width: _mask(width) for width in _WIDTHS[:4]}

    def hash(self, buffer: bytearray | bytes, starts: I64, lengths: I64) -> U64:
        """Hashes of ``buffer[start : start + length]``; the buffer ends in ``PADDING`` spare bytes."""
        result = np.empty(len(starts), dtype=np.uint64)
        low = -1
        for width in _WIDTHS:
            if low < 0 and len(lengths) and int(lengths.max()) <= width:
                return self._hash_narrow(buffer, starts, lengths, width)
            chosen = np.flatnonzero((lengths > low) & (lengths <= width))
            if len(chosen):
                result[chosen] = self._hash_narrow(buffer, starts[chosen], lengths[chosen], width)
            low = width
        for at in np.flatnonzero(lengths > low).tolist():
            start = int(starts[at])
            piece = memoryview(buffer)[start : start + int(lengths[at])]
            digest = hashlib.blake2b(piece, digest_size=8, key=self._long_key).digest()
            result[at] = int.from_bytes(digest, "little") or 1
        return result

    def _hash_narrow(self, buffer: bytearray | bytes, starts: I64, lengths: I64, width: int) -> U64:
        """Hashes of pieces of at most ``width`` bytes."""
        size = len(buffer) - width + 1
        windows: Any = np.ndarray((size,), dtype=f"V{width}", buffer=buffer, strides=(1,))
        words = windows[starts].view(np.uint64).reshape(-1, width // 8)
        mask = self._masks.get(width)
        if mask is None:
            mask = self._masks.setdefault(width, _mask(width))
        words &= mask[lengths]
        wide = words.view(np.uint32).astype(np.uint64)
        first, second = (  # einsum adds up small integers twice as fast as the matrix product
            np.einsum("ij,j->i", wide, keys[1 : 1 + width // 4]) + keys[0] for keys in self._keys
        )
        hashes: U64 = (first & _UPPER) | (second >> _HALF)
        hashes[hashes == 0] = 1
        return hashes


def _mask(width: int) -> U64:
    """Row ``n`` keeps the first ``n`` bytes of ``width``."""
    keep = np.arange(width) < np.arange(width + 1)[:, None]
    return (keep * np.uint8(255)).astype(np.uint8).view(np.uint64)
