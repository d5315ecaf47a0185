"""What the gateway writes to: a log for entries and a store for the texts they commit to.

Both have written to the file before they return, so that nothing an agent was shown can be lost by killing the
process. The recorder also keeps the present attempt's entries in memory, for the trace.
"""

from __future__ import annotations

from typing import Protocol

from proctor.ledger.entries import Entry

__all__ = ["EntryLog", "Recorder", "TextLog"]


class EntryLog(Protocol):
    """Where entries go: appended, numbered, never changed."""

    @property
    def last_ns(self) -> int:
        """Time of the entry appended last, in nanoseconds since the epoch."""
        ...

    def append(self, entry: Entry) -> int:
        """Write an entry; its number."""
        ...

    def commit(self) -> None:
        """Make all that was written survive a power cut."""
        ...


class TextLog(Protocol):
    """Where texts go."""

    def put(self, data: bytes) -> str:
        """Write a text; its salted commitment."""
        ...

    def commit(self) -> None:
        """Make all that was written survive a power cut."""
        ...


class Recorder:
    """One worker's record."""

    def __init__(self, log: EntryLog, texts: TextLog) -> None:
        self._log = log
        self._texts = texts
        self._kept: list[tuple[int, int, Entry]] = []
        self._kept_texts: dict[str, bytes] = {}

    def text(self, data: bytes) -> str:
        """Keep a text beside the log; its commitment."""
        reference = self._texts.put(data)
        self._kept_texts[reference] = data
        return reference

    def record(self, entry: Entry) -> int:
        """Append an entry; its number in the worker's log."""
        seq = self._log.append(entry)
        self._kept.append((seq, self._log.last_ns, entry))
        return seq

    def commit(self) -> None:
        """Texts first, then the entries that refer to them."""
        self._texts.commit()
        self._log.commit()

    def take(self) -> tuple[list[tuple[int, int, Entry]], dict[str, bytes]]:
        """What was recorded since the last ``take``: ``(number, ns, entry)`` and the texts."""
        kept, self._kept = self._kept, []
        texts, self._kept_texts = self._kept_texts, {}
        return kept, texts
