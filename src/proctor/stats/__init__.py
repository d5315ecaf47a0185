"""Estimates and tests of recorded outcomes: how sure is a rate, is a difference real, what can this many
cells say.

Pure: values in, values out; randomness comes in as a seed. Leaves out what the numbers mean for shipping
(that is ``gate``) and how two candidates are lined up (that is ``comparison``).
"""

from proctor.stats.cluster import CannotTell, Clusters, Interval
from proctor.stats.estimate import RateEstimate, rate_estimate, wilson

__all__ = ["CannotTell", "Clusters", "Interval", "RateEstimate", "rate_estimate", "wilson"]
