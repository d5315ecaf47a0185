"""Cluster bootstrap, 10,000 resamples × 100,000 clusters, against numpy's plain index-and-gather on a sample.

Both kinds of input: 0/1 scores (few kinds of clusters) and continuous scores (all clusters differ), with
equal and with unequal sizes. The plain way is timed on 50 resamples and scaled; times are processor time,
memory is the peak of the process.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from proctor.stats.cluster import Clusters
from proctor.stats.resample import bootstrap

CLUSTERS, RESAMPLES, SAMPLE = 100_000, 10_000, 50


def clusters(kind: str) -> Clusters:
    rng = np.random.default_rng(1)
    sizes = np.full(CLUSTERS, 4.0) if "unequal" not in kind else rng.integers(1, 9, CLUSTERS).astype(float)
    totals = rng.binomial(sizes.astype(int), 0.8).astype(float) if "0/1" in kind else rng.random(CLUSTERS) * sizes
    return Clusters(totals=totals, sizes=sizes, squares=totals)


def plain(data: Clusters) -> float:
    rng = np.random.default_rng(2)
    start = time.process_time()
    for _ in range(SAMPLE):
        index = rng.integers(0, CLUSTERS, CLUSTERS)
        data.totals[index].sum() / data.sizes[index].sum()
    return (time.process_time() - start) * RESAMPLES / SAMPLE


def main() -> None:
    for kind in ("0/1 scores", "0/1 scores, unequal sizes", "continuous scores", "continuous, unequal sizes"):
        data = clusters(kind)
        baseline = plain(data)
        start = time.process_time()
        bootstrap(data, resamples=RESAMPLES)
        ours = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{kind:28} {ours:6.2f} s  plain {baseline:6.2f} s  ratio {baseline / ours:6.1f}  peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
