"""What a plan could have shown: the smallest difference it would detect, and how many cases another would
need.

Normal approximation at 80% power and a two-sided 5% level unless said otherwise; the error is taken to shrink
with the square root of the number of clusters.
"""

from __future__ import annotations

import math
from typing import Final

from proctor.stats.cluster import CONFIDENCE, normal_quantile

__all__ = ["POWER", "clusters_needed", "detectable_difference", "power_of"]

POWER: Final = 0.8


def detectable_difference(se: float, *, power: float = POWER, confidence: float = CONFIDENCE) -> float:
    """The smallest true difference that a comparison with this standard error finds with the given power."""
    return (normal_quantile(0.5 + confidence / 2) + normal_quantile(power)) * se


def clusters_needed(
    se: float, clusters: int, distance: float, *, power: float = POWER, confidence: float = CONFIDENCE
) -> int | None:
    """How many clusters would settle a true ``distance`` from the bound in question; None at distance 0.

    ``se`` is the error seen with ``clusters`` clusters.
    """
    if distance == 0:
        return None
    ratio = detectable_difference(se, power=power, confidence=confidence) / abs(distance)
    return max(2, math.ceil(clusters * ratio * ratio))


def power_of(se: float, difference: float, *, confidence: float = CONFIDENCE) -> float:
    """The chance that a true ``difference`` is found, in either direction, with this standard error."""
    from scipy import special  # noqa: PLC0415 - heavy, only needed here

    z = normal_quantile(0.5 + confidence / 2)
    shift = abs(difference) / se
    return float(special.ndtr(shift - z) + special.ndtr(-shift - z))
