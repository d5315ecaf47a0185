"""The six counts of usage and what holds between them. Left out: which provider's object they came from.

``cached_tokens`` are part of ``input_tokens`` and ``reasoning_tokens`` part of ``output_tokens``: never added again.
In schema version 2 these two may be None, which means the provider gives no such figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import COUNT_LIMIT, is_count

__all__ = [
    "COUNT_KEYS",
    "REQUIRED_COUNTS",
    "SUBSET_COUNTS",
    "Counts",
    "add_counts",
    "check_counts",
    "zero_counts",
]

Counts: TypeAlias = "dict[str, int | None]"

REQUIRED_COUNTS: Final = ("requests", "input_tokens", "output_tokens", "total_tokens")
SUBSET_COUNTS: Final = ("cached_tokens", "reasoning_tokens")
COUNT_KEYS: Final = frozenset(REQUIRED_COUNTS + SUBSET_COUNTS)
_SUBSET_OF: Final = (("cached_tokens", "input_tokens"), ("reasoning_tokens", "output_tokens"))


def zero_counts() -> Counts:
    """Six zeros: what no request at all adds up to."""
    return dict.fromkeys(REQUIRED_COUNTS + SUBSET_COUNTS, 0)


def check_counts(value: Any, where: str, *, subsets_may_be_null: bool) -> None:
    """Raise ``AccountingError``: ``schema`` (keys, types), ``token_total``, ``token_subset``, in this order."""
    if type(value) is not dict or value.keys() != COUNT_KEYS:
        raise AccountingError(Fault.SCHEMA, f"{where}: expected exactly the keys {', '.join(sorted(COUNT_KEYS))}")
    for key in sorted(COUNT_KEYS):
        if value[key] is None and subsets_may_be_null and key in SUBSET_COUNTS:
            continue
        if not is_count(value[key]):
            raise AccountingError(Fault.SCHEMA, f"{where}.{key}: expected a non-negative integer")
    check_sums(value, where)


def check_sums(value: Counts, where: str) -> None:
    """Raise ``AccountingError``: ``token_total`` or ``token_subset``; the types must be right already."""
    total, parts = value["total_tokens"], (value["input_tokens"] or 0) + (value["output_tokens"] or 0)
    if total != parts:
        raise AccountingError(Fault.TOKEN_TOTAL, f"{where}: total_tokens {total} is not input + output = {parts}")
    for part, whole in _SUBSET_OF:
        inner, outer = value[part], value[whole]
        if inner is not None and outer is not None and inner > outer:
            raise AccountingError(Fault.TOKEN_SUBSET, f"{where}: {part} {inner} exceeds {whole} {outer}")


def add_counts(left: Counts, right: Counts) -> Counts:
    """Key by key; unknown (None) on either side stays unknown."""
    total: Counts = {}
    for key, a in left.items():
        b = right[key]
        total[key] = None if a is None or b is None else a + b
    return total


def add_all(parts: Sequence[Counts]) -> Counts:
    """The sum of any number of counts; unknown anywhere is unknown in the sum."""
    columns = {key: [part[key] for part in parts] for key in REQUIRED_COUNTS + SUBSET_COUNTS}
    return {key: None if None in column else sum(filter(None, column)) for key, column in columns.items()}


def exceeds_limit(value: Counts) -> bool:
    """Whether a sum left the range of counts."""
    return any(count is not None and count > COUNT_LIMIT for count in value.values())
