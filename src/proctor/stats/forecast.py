"""What a sum over many cells will come to, from a few that were measured. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

__all__ = ["Forecast", "forecast_sum"]


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """A total with its 95% range; the ends are None where one value says nothing about the spread."""

    expected: float
    low: float | None
    high: float | None


def forecast_sum(measured: Sequence[float], n: int) -> Forecast | None:
    """The sum of ``n`` further values like the ``measured`` ones; None where nothing was measured.

    A prediction interval for a sum: n·mean ± t·s·√(n + n²/m), with Student's t of m − 1 degrees of freedom (Hahn and
    Meeker, Statistical Intervals, section 4.8). Cells cost no less than nothing, so the lower end stops at 0.
    """
    m = len(measured)
    if not m:
        return None
    mean = math.fsum(measured) / m
    expected = n * mean
    if m < 2:
        return Forecast(expected=expected, low=None, high=None)
    from scipy import stats  # noqa: PLC0415 - slow to import, needed here alone

    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in measured) / (m - 1))
    half = float(stats.t.ppf(0.975, m - 1)) * spread * math.sqrt(n + n * n / m)
    return Forecast(expected=expected, low=max(0.0, expected - half), high=expected + half)
