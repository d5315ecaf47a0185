"""The Merkle tree over a log's entries: hashes, roots, and proofs of inclusion and consistency. Pure.

Follows RFC 9162 section 2.1 with SHA-256: a leaf is hashed as ``0x00 ‖ entry``, an inner node as
``0x01 ‖ left ‖ right``. Hash lengths are checked before anything is compared, so that a root of another
length never matches. Left out: where hashes are stored (``ledger.tiles``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "check_consistency",
    "check_inclusion",
    "fold",
    "leaf_hash",
    "make_consistency_proof",
    "make_inclusion_proof",
    "node_hash",
]

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

_sha256 = hashlib.sha256


def leaf_hash(entry: bytes) -> bytes:
    """Hash of one entry."""
    return _sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of two neighbouring subtrees."""
    return _sha256(b"\x01" + left + right).digest()


def fold(hashes: Sequence[bytes]) -> bytes:
    """Root over subtree hashes of equal size, of which the last may be smaller; ``EMPTY_ROOT`` for none."""
    row = list(hashes)
    if not row:
        return EMPTY_ROOT
    sha256 = _sha256
    while len(row) > 1:
        pairs = iter(row)
        above = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=False)]
        if len(row) % 2:
            above.append(row[-1])
        row = above
    return row[0]


def make_inclusion_proof(index: int, size: int, subtree: Callable[[int, int], bytes]) -> list[bytes]:
    """Proof that leaf ``index`` is in the tree of ``size`` leaves (RFC 9162 section 2.1.3.1).

    ``subtree(start, end)`` gives the root over the leaves ``start`` ≤ i < ``end``. Raises ``ValueError``
    where ``index`` is not below ``size``.
    """
    if not 0 <= index < size:
        raise ValueError(f"no leaf {index} in a tree of {size}")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            proof.append(subtree(middle, end))
            end = middle
        else:
            proof.append(subtree(start, middle))
            start = middle
    proof.reverse()
    return proof


def make_consistency_proof(size: int, later_size: int, subtree: Callable[[int, int], bytes]) -> list[bytes]:
    """Proof that the tree of ``size`` leaves is a prefix of the one of ``later_size`` (RFC 9162 section
    2.1.4.1).
    """
    if not 0 < size <= later_size:
        raise ValueError(f"no proof from {size} to {later_size}")
    proof: list[bytes] = []
    start, end, whole = 0, later_size, True
    while size != end:
        middle = start + _split(end - start)
        if size <= middle:
            proof.append(subtree(middle, end))
            end = middle
        else:
            proof.append(subtree(start, middle))
            start, whole = middle, False
    if not whole:
        proof.append(subtree(start, end))
    proof.reverse()
    return proof


def _split(n: int) -> int:
    """Largest power of two below ``n``."""
    return 1 << (n - 1).bit_length() - 1


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether ``proof`` shows that ``leaf`` is number ``index`` of ``size`` under ``root`` (RFC 9162
    2.1.3.2).
    """
    if not 0 <= index < size or not _are_hashes(leaf, root, *proof):
        return False
    here, last, computed = index, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if here & 1 or here == last:
            computed = node_hash(other, computed)
            while here and not here & 1:
                here >>= 1
                last >>= 1
        else:
            computed = node_hash(computed, other)
        here >>= 1
        last >>= 1
    return last == 0 and computed == root


def check_consistency(size: int, later_size: int, proof: Sequence[bytes], root: bytes, later_root: bytes) -> bool:
    """Whether ``proof`` shows that the first tree is a prefix of the later one (RFC 9162 section 2.1.4.2).

    A tree of size 0 is a prefix of any: that is for the caller to say, here it is false.
    """
    if size == later_size and size > 0:
        return not proof and root == later_root
    if not 0 < size < later_size or not _are_hashes(root, later_root, *proof):
        return False
    path = list(proof)
    if size & (size - 1) == 0:
        path.insert(0, root)
    if not path:
        return False
    here, last = size - 1, later_size - 1
    while here & 1:
        here >>= 1
        last >>= 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if here & 1 or here == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while here and not here & 1:
                here >>= 1
                last >>= 1
        else:
            new = node_hash(new, other)
        here >>= 1
        last >>= 1
    return last == 0 and old == root and new == later_root


def _are_hashes(*values: bytes) -> bool:
    return all(len(value) == HASH_BYTES for value in values)
