"""Many tests at once: Holm (keeps the chance of any false alarm) and Benjamini–Hochberg (keeps their
share).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["benjamini_hochberg", "holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given (S. Holm 1979)."""
    _check(p_values)
    n = len(p_values)
    adjusted = [0.0] * n
    running = 0.0
    for rank, index in enumerate(sorted(range(n), key=lambda i: (p_values[i], i))):
        running = max(running, min(1.0, (n - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given (Y. Benjamini and Y. Hochberg 1995)."""
    _check(p_values)
    n = len(p_values)
    adjusted = [0.0] * n
    running = 1.0
    for rank, index in enumerate(sorted(range(n), key=lambda i: (-p_values[i], i))):
        running = min(running, p_values[index] * n / (n - rank))
        adjusted[index] = running
    return adjusted


def _check(p_values: Sequence[float]) -> None:
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value lies between 0 and 1; got {p}")
