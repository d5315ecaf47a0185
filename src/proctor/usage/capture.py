"""Take usage out of live objects as detached plain values, without importing any SDK. Left out: judging it."""

from __future__ import annotations

import copy
from typing import Any, Final

from proctor.usage.counts import REQUIRED_COUNTS, Counts, check_counts
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import check_plain, is_id

__all__ = ["capture_request", "snapshot_sdk_usage"]

_DETAILS: Final = (
    ("cached_tokens", "input_tokens_details"),
    ("reasoning_tokens", "output_tokens_details"),
)


def capture_request(
    request_id: str, raw_usage: Any, sdk_normalized: Any, *, provider: str = "openai.responses"
) -> dict[str, Any]:
    """One entry of ``request_evidence``, detached: later changes to the arguments don't reach it.

    ``raw_usage`` is the provider's usage object as plain JSON, or None where it wasn't kept (then unknown, never zero);
    ``sdk_normalized`` the six counts, or an SDK usage object. Raises ``AccountingError`` (``schema``, or what
    ``snapshot_sdk_usage`` raises). Whether the two agree is the reducer's question.
    """
    if not is_id(request_id):
        raise AccountingError(Fault.SCHEMA, "request_id: expected an id")
    counts = sdk_normalized if type(sdk_normalized) is dict else snapshot_sdk_usage(sdk_normalized)
    check_plain(raw_usage, "raw_usage")
    check_plain(counts, "sdk_normalized")
    return {
        "request_id": request_id,
        "provider": provider,
        "raw_usage": copy.deepcopy(raw_usage),
        "normalized": dict(counts),
    }


def snapshot_sdk_usage(usage: Any) -> Counts:
    """The six counts of an OpenAI Agents SDK ``Usage``, by its attributes: ``requests``, ``input_tokens``, … .

    Raises ``AccountingError``: ``raw_unknown`` where an attribute is missing or None, ``schema`` where it is no
    non-negative integer, ``token_total``, ``token_subset``. What the SDK reports is a claim: a zero may be unknown.
    """
    counts: Counts = {key: _attribute(usage, key, key) for key in REQUIRED_COUNTS}
    for key, details in _DETAILS:
        counts[key] = _attribute(_attribute(usage, details, details), key, f"{details}.{key}")
    check_counts(counts, "usage", subsets_may_be_null=False)
    return counts


def _attribute(owner: Any, name: str, path: str) -> Any:
    value = getattr(owner, name, None)
    if value is None:
        raise AccountingError(Fault.RAW_UNKNOWN, f"usage.{path} is missing or null")
    return value
