"""Seeded dice whose throws are the same on every machine and in every Python: SHA-256 in counter mode."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of numbers named by a label; equal labels give equal streams."""

    def __init__(self, label: str) -> None:
        self._label = label.encode()
        self._block = 0
        self._pool = b""

    def fork(self, label: str) -> Dice:
        """Other dice, so that a change in how one part draws leaves the other parts as they were."""
        return Dice(f"{self._label.decode()}/{label}")

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        while len(self._pool) < size:
            self._pool += hashlib.sha256(self._label + b"#%d" % self._block).digest()
            self._block += 1
        taken, self._pool = self._pool[:size], self._pool[size:]
        return taken

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, ``limit``; no value is favoured."""
        ceiling = (1 << 64) // limit * limit
        while True:
            value = int.from_bytes(self.take(8), "big")
            if value < ceiling:
                return value % limit

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True ``percent`` times in a hundred."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order (Fisher and Yates)."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def hex(self, digits: int) -> str:
        """That many hexadecimal digits."""
        return self.take((digits + 1) // 2).hex()[:digits]
