"""What a run really spent: manifest, records, reducer, provider adapters, prices. Unknown is never zero."""

from proctor.usage.capture import capture_request, snapshot_sdk_usage
from proctor.usage.faults import AccountingError
from proctor.usage.plain import record_digest
from proctor.usage.providers import normalize_openai_responses
from proctor.usage.reduce import reduce_usage

__all__ = [
    "AccountingError",
    "capture_request",
    "normalize_openai_responses",
    "record_digest",
    "reduce_usage",
    "snapshot_sdk_usage",
]
