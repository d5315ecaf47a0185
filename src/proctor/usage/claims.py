"""What an agent says it spent: one claim a request, kept beside what the executor saw and never added to it. Pure.

A claim is ``{request_id, provider, model, raw_usage}`` as the agent sent it. Figures that its provider's rule can't
read make the claimed total unknown, not smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.usage.counts import Counts, add_all
from proctor.usage.faults import AccountingError
from proctor.usage.prices import PriceTable, cost_of
from proctor.usage.providers import normalize

__all__ = ["Claim", "ClaimedUsage", "add_claimed", "add_claims"]


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request as the agent tells it. ``model`` is the id that the provider answered with."""

    request_id: str
    provider: str
    model: str | None = None
    raw_usage: dict[str, Any] | None = None


class ClaimedUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Claims added up; ``tokens`` and ``usd`` are None where a claim can't be read or a model has no price.

    A request id that comes twice with the same content counts once; with other content the totals are unknown.
    """

    requests: int = 0
    tokens: int | None = 0
    usd: float | None = 0.0


def add_claims(claims: Sequence[Claim], prices: PriceTable) -> ClaimedUsage | None:
    """The claims of one cell together; None where nothing was claimed."""
    if not claims:
        return None
    by_id: dict[str, Claim] = {}
    contradicts = False
    for claim in claims:
        contradicts |= by_id.setdefault(claim.request_id, claim) != claim
    distinct = list(by_id.values())
    counts = [_counts(claim) for claim in distinct]
    known = [count for count in counts if count is not None]
    if contradicts or len(known) < len(distinct):
        return ClaimedUsage(requests=len(distinct), tokens=None, usd=None)
    costs = [cost_of(count, claim.model, prices).total_usd for count, claim in zip(known, distinct, strict=True)]
    exact = [cost for cost in costs if cost is not None]
    return ClaimedUsage(
        requests=len(distinct),
        tokens=add_all(known)["total_tokens"],
        usd=float(sum(exact)) if len(exact) == len(costs) else None,
    )


def add_claimed(parts: Sequence[ClaimedUsage | None]) -> ClaimedUsage | None:
    """What several cells claim together; unknown where one of them is, None where none claims anything."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    tokens = [part.tokens for part in given if part.tokens is not None]
    usd = [part.usd for part in given if part.usd is not None]
    return ClaimedUsage(
        requests=sum(part.requests for part in given),
        tokens=sum(tokens) if len(tokens) == len(given) else None,
        usd=sum(usd) if len(usd) == len(given) else None,
    )


def _counts(claim: Claim) -> Counts | None:
    try:
        return normalize(claim.provider, claim.raw_usage)
    except AccountingError:
        return None
