"""Development and holdout: which group of cases goes where. Pure, deterministic, and steady when cases are added.

A group (same customer, source document or template) goes one way as a whole, so that near-copies never straddle. Where
it goes depends on the salt and the group's name alone: the first 64 bits of SHA-256 over both, as a share of 2^64,
against the holdout's share. Another salt is another split.
"""

from __future__ import annotations

import hashlib

__all__ = ["is_held_out", "place_of_group"]


def place_of_group(salt: str, group: str) -> float:
    """Where a group stands between 0 and 1."""
    text = f"proctor.split/1\0{len(salt.encode())}\0{salt}\0{group}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def is_held_out(salt: str, group: str, share: float) -> bool:
    """Whether a group belongs to the holdout, of which ``share`` (0 to 1) of the groups are meant to be part."""
    return place_of_group(salt, group) < share
