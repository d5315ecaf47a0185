"""A log's writer: what it promises before it returns, and when it stops for good."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.clock import FixedClock
from proctor.errors import EvidenceError, InfrastructureError, UsageError
from proctor.ledger.entries import CycleStart, Recovered
from proctor.ledger.files import FileOps
from proctor.ledger.keys import Signer
from proctor.ledger.reader import is_open, read_checkpoint, read_log
from proctor.ledger.texts import TextReader, TextStore
from proctor.ledger.writer import LogWriter

SIGNER = Signer("test.local/a", b"\x01" * 32)
ORIGIN = SIGNER.origin("run", "r1")


def entry(n: int) -> CycleStart:
    return CycleStart(attempt="C-1/1#0", cycle=n)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogWriter]:
    with LogWriter.create(tmp_path / "ledger", origin=ORIGIN, signer=SIGNER, clock=FixedClock()) as writer:
        yield writer


def test_an_entry_is_readable_before_append_returns(log: LogWriter) -> None:
    assert [log.append(entry(n)) for n in (1, 2)] == [0, 1]
    assert [(r.seq, r.entry) for r in read_log(log.folder)] == [(0, entry(1)), (1, entry(2))]
    assert is_open(log.folder)


def test_one_by_one_and_together_give_the_same_entries(log: LogWriter) -> None:
    log.append(entry(1))
    assert log.append_many([entry(n) for n in range(2, 601)]) == range(1, 600)
    assert log.append_many([]) == range(600, 600)
    log.close()
    assert [r.entry for r in read_log(log.folder)] == [entry(n) for n in range(1, 601)]


def test_a_closed_log_is_tiles_and_a_checkpoint(log: LogWriter) -> None:
    log.append_many([entry(n) for n in range(257)])
    head = log.close()
    names = sorted(str(p.relative_to(log.folder)) for p in log.folder.rglob("*") if p.is_file())
    assert names == [
        "checkpoint",
        "tile/0/000",
        "tile/0/001.p/1",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/1",
    ]
    assert read_checkpoint(log.folder) == head
    assert (head.size, head.origin) == (257, ORIGIN)


def test_a_closed_log_takes_nothing_more(log: LogWriter) -> None:
    log.append(entry(1))
    log.close()
    with pytest.raises(InfrastructureError, match=r"takes no more entries.*it was closed"):
        log.append(entry(2))


def test_a_folder_holds_one_log(log: LogWriter) -> None:
    with pytest.raises(UsageError, match="there is a log here already"):
        LogWriter.create(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())
    log.close()
    with pytest.raises(UsageError, match="there is a log here already"):
        LogWriter.create(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())


def test_the_origin_must_be_the_keys(tmp_path: Path) -> None:
    for origin in ("test.local/b/run", "test.local/ab", "test.local/a/x y"):
        with pytest.raises(UsageError, match=r"does not sign for this log; expected an origin that starts with test\."):
            LogWriter.create(tmp_path / "l", origin=origin, signer=SIGNER, clock=FixedClock())
    assert not (tmp_path / "l").exists()


def test_recovery_notes_the_crash_and_goes_on(log: LogWriter) -> None:
    log.append_many([entry(n) for n in range(3)])
    log.abandon()
    with (log.folder / "wal").open("ab") as stream:
        stream.write(b"\x00\x00\x01\x00\x00torn")
    again = LogWriter.recover(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())
    assert (log.folder / "torn/3").read_bytes() == b"\x00\x00\x01\x00\x00torn"
    again.append(entry(9))
    again.close()
    kinds = [r.entry for r in read_log(log.folder)]
    assert isinstance(kinds[3], Recovered)
    assert kinds[3].bytes == 9
    assert kinds[4] == entry(9)


def test_two_writers_on_one_log_are_refused(log: LogWriter) -> None:
    with pytest.raises(InfrastructureError, match="another process is writing this log"):
        LogWriter.recover(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())


def test_there_must_be_an_open_log_to_recover(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="there is no open log here"):
        LogWriter.recover(tmp_path, origin=ORIGIN, signer=SIGNER, clock=FixedClock())


def test_an_entry_beyond_the_format_is_refused_and_nothing_is_written(log: LogWriter) -> None:
    with pytest.raises(EvidenceError, match=r"too large.*expected at most 65,535 bytes"):
        log.append(CycleStart(attempt="x" * 65_536, cycle=1))
    log.append(entry(1))
    assert log.size == 1


class FullDisk(FileOps):
    full = False

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        if self.full:
            raise OSError(28, "No space left on device")
        return os.write(fd, data)


def test_an_error_while_writing_closes_the_log_for_good(tmp_path: Path) -> None:
    ops = FullDisk()
    log = LogWriter.create(tmp_path / "l", origin=ORIGIN, signer=SIGNER, clock=FixedClock(), ops=ops)
    log.append(entry(1))
    ops.full = True
    with pytest.raises(InfrastructureError, match=r"writing failed: .*No space left.*see to the disk"):
        log.append(entry(2))
    ops.full = False
    with pytest.raises(InfrastructureError, match="No space left"):
        log.commit()
    log.abandon()


def test_texts_are_found_by_their_salted_commitment(tmp_path: Path) -> None:
    store = TextStore.create(tmp_path / "texts" / "00")
    refs = [store.put(b"1234"), store.put(b"1234"), *store.put_many([b"", b"x" * 3000])]
    assert len(set(refs)) == 4
    reader = TextReader(tmp_path / "texts")
    assert [reader.get(ref) for ref in refs] == [b"1234", b"1234", b"", b"x" * 3000]
    store.close()
    with pytest.raises(InfrastructureError, match="it was closed"):
        store.put(b"late")
    with pytest.raises(EvidenceError, match="the text is withheld"):
        reader.get("sha256:" + "0" * 64)


def test_a_torn_text_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "texts" / "00"
    store = TextStore.create(path)
    ref = store.put(b"whole")
    store.put(b"torn text")
    store.abandon()
    path.write_bytes(path.read_bytes()[:-3])
    assert TextReader(path.parent).torn == {path: 25}
    with TextStore.recover(path) as again:
        new = again.put(b"after")
    reader = TextReader(path.parent)
    assert (reader.get(ref), reader.get(new), len(reader), reader.torn) == (b"whole", b"after", 2, {})
    assert path.with_name("00.torn-25").read_bytes().endswith(b"torn t")
