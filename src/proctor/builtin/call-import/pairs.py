"""Pairs in the right order, counted without looking at each pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def ordered_pairs(ranks: Sequence[int]) -> int:
    """How many pairs i < j of distinct ranks have ``ranks[i] < ranks[j]``, in O(n log n) (a Fenwick tree)."""
    if all(before < after for before, after in pairwise(ranks)):
        return len(ranks) * (len(ranks) - 1) // 2
    place = {rank: number for number, rank in enumerate(sorted(ranks), 1)}
    tree = [0] * (len(ranks) + 1)
    pairs = 0
    for rank in ranks:
        number = place[rank]
        below = number - 1
        while below:
            pairs += tree[below]
            below &= below - 1
        while number < len(tree):
            tree[number] += 1
            number += number & -number
    return pairs
