"""A witness signs what only grew, and remembers before it answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proctor.clock import FixedClock
from proctor.errors import EvidenceError
from proctor.ledger.checks import Trust
from proctor.ledger.entries import CycleStart
from proctor.ledger.files import FileOps
from proctor.ledger.keys import Signer
from proctor.ledger.note import CHECKPOINT_NAME, witness_key
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.verify import verify_log
from proctor.ledger.witness import Witnessed, witness_log
from proctor.ledger.writer import LogWriter

SIGNER = Signer("test.local/a", b"\x01" * 32)
WITNESS = Signer("city.example/w", b"\x02" * 32)
ORIGIN = SIGNER.origin("workspace")
LOG_ONLY = TrustFile(keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey),))
BOTH = TrustFile(keys=(*LOG_ONLY.keys, TrustedKey(role="witness", vkey=witness_key(WITNESS).vkey)), quorum=1)


def write(folder: Path, *cycles: int, resume: bool = False) -> None:
    make = LogWriter.recover if resume else LogWriter.create
    kept = {"only_if_torn": True} if resume else {}
    with make(folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock(), **kept) as log:
        log.append_many([CycleStart(attempt="a", cycle=n) for n in cycles])
        log.checkpoint()


def sign(log: Path, home: Path) -> Witnessed:
    return witness_log(log, home=home, signer=WITNESS, trust=LOG_ONLY, clock=FixedClock())


def test_a_log_that_grows_is_signed_again(tmp_path: Path) -> None:
    log, home = tmp_path / "log", tmp_path / "home"
    write(log, 1, 2)
    assert [one.code for one in verify_log(log, BOTH).findings] == ["quorum"]
    assert sign(log, home) == Witnessed(origin=ORIGIN, size=2, since=0)
    check = verify_log(log, BOTH)
    assert (check.findings, check.trust, check.witnesses) == ((), Trust.WITNESSED, ("city.example/w",))
    write(log, 3, resume=True)
    assert sign(log, home).since == 2
    with LogWriter.recover(log, origin=ORIGIN, signer=SIGNER, clock=FixedClock(), only_if_torn=True) as writer:
        writer.close()
    assert sign(log, home) == Witnessed(origin=ORIGIN, size=3, since=3)
    assert verify_log(log, BOTH).findings == ()


@pytest.mark.parametrize(
    ("entries", "code", "words"),
    [
        ((1,), "rollback", "the log was taken back; expected at least 2 entries; found 1; nothing was signed"),
        ((1, 9), "fork", "another log than the one witnessed at size 2"),
        ((9, 2, 3, 4), "fork", "another log than the one witnessed at size 2"),
    ],
)
def test_a_log_that_was_changed_is_refused(tmp_path: Path, entries: tuple[int, ...], code: str, words: str) -> None:
    log, home = tmp_path / "log", tmp_path / "home"
    write(log, 1, 2)
    sign(log, home)
    shutil.rmtree(log)
    write(log, *entries)
    before = (log / CHECKPOINT_NAME).read_bytes()
    with pytest.raises(EvidenceError, match=words) as caught:
        sign(log, home)
    assert caught.value.code == code
    assert (log / CHECKPOINT_NAME).read_bytes() == before


def test_only_a_believed_log_is_signed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(log, 1)
    with pytest.raises(EvidenceError, match="no known key signed this"):
        witness_log(log, home=tmp_path, signer=WITNESS, trust=TrustFile(), clock=FixedClock())
    (log / "wal").write_bytes((log / "wal").read_bytes().replace(b'"cycle":1', b'"cycle":2'))
    with pytest.raises(EvidenceError, match="the entries are not those that were signed"):
        sign(log, tmp_path)


def test_the_memory_comes_before_the_signature(tmp_path: Path) -> None:
    class Fails(FileOps):
        renames = 0

        def rename(self, source: Path, target: Path) -> None:
            self.renames += 1
            if self.renames == 2:
                raise OSError(28, "No space left on device")
            super().rename(source, target)

    log, home = tmp_path / "log", tmp_path / "home"
    write(log, 1, 2)
    with pytest.raises(OSError, match="No space left"):
        witness_log(log, home=home, signer=WITNESS, trust=LOG_ONLY, clock=FixedClock(), ops=Fails())
    assert sign(log, home).since == 2
