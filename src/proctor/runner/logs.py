"""Opening a run's logs: new, or again after a crash."""

from __future__ import annotations

from pathlib import Path

from proctor.clock import Clock
from proctor.ledger.keys import Signer
from proctor.ledger.note import Checkpoint
from proctor.ledger.reader import is_open, read_checkpoint
from proctor.ledger.writer import LogWriter

__all__ = ["closed_head", "open_again", "open_log"]


def open_log(folder: Path, origin: str, signer: Signer, clock: Clock) -> LogWriter:
    """A new log."""
    return LogWriter.create(folder, origin=origin, signer=signer, clock=clock)


def open_again(folder: Path, origin: str, signer: Signer, clock: Clock) -> LogWriter:
    """A log that a crash left open; it says so in an entry of its own. Raises ``EvidenceError`` for damage that no
    crash does."""
    return LogWriter.recover(folder, origin=origin, signer=signer, clock=clock)


def closed_head(folder: Path) -> Checkpoint | None:
    """The head of a log that was closed; None where it is open or not there."""
    return None if is_open(folder) else read_checkpoint(folder)
