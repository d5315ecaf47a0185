"""The agent's usage claims as an attempt's record holds them, and what a cell spent as far as anybody knows.

Used the same way while running and when a finished run is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import msgspec

from proctor.ledger.entries import Entry, UsageClaim
from proctor.sandbox.tiers import Isolation
from proctor.score.cells import CellUsage
from proctor.usage.claims import Claim, add_claims
from proctor.usage.prices import PriceTable, load_prices

__all__ = ["cell_usage", "claims_in", "prices"]


@cache
def prices() -> PriceTable:
    """The price table that ships with Proctor."""
    return load_prices()


def claims_in(entries: Iterable[Entry], text: Callable[[str], bytes]) -> list[Claim]:
    """The usage claims among an attempt's entries, in order."""
    return [msgspec.json.decode(text(entry.claimRef), type=Claim) for entry in entries if isinstance(entry, UsageClaim)]


def cell_usage(*, calls: int, elapsed_ms: int, claims: Sequence[Claim], isolation: Isolation) -> CellUsage:
    """What a cell spent over all its attempts, as far as anybody knows."""
    claimed = add_claims(claims, prices())
    is_known = not isolation.network
    return CellUsage(
        calls=calls,
        seconds=elapsed_ms / 1000,
        tokens=0 if is_known else None,
        usd=0.0 if is_known else None,
        claimed_tokens=None if claimed is None else claimed.tokens,
        claimed_usd=None if claimed is None else claimed.usd,
    )
