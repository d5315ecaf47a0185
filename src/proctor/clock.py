"""Time, randomness and ids as objects that are passed in, so that nothing else reads them from the machine."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Clock", "FixedClock", "Randomness", "SystemClock", "SystemRandomness", "utc_text"]


class Clock(Protocol):
    """Where times come from."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970-01-01T00:00:00Z."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes backwards, for limits."""
        ...


class Randomness(Protocol):
    """Where unpredictable bytes (salts, run ids) come from."""

    def bytes(self, n: int) -> bytes:
        """``n`` random bytes."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ns(self) -> int:
        """Nanoseconds since the epoch, from the machine."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Seconds since an arbitrary point, from the machine."""
        return time.monotonic()


@dataclass
class FixedClock:
    """A clock that moves one step a reading; for tests and reproducible files."""

    at_ns: int = 1_767_225_600_000_000_000
    step_ns: int = 1_000_000

    def now_ns(self) -> int:
        """The next instant."""
        self.at_ns += self.step_ns
        return self.at_ns

    def monotonic(self) -> float:
        """The same instant in seconds."""
        return self.at_ns / 1e9


class SystemRandomness:
    """The machine's cryptographic randomness."""

    def bytes(self, n: int) -> bytes:
        """``n`` bytes from the operating system."""
        return os.urandom(n)


def utc_text(at_ns: int) -> str:
    """``2026-11-30T09:00:00.123456Z`` for nanoseconds since the epoch."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1000:06d}Z"
