"""A crash at any byte, at any operation, of any process: nothing committed is lost, nothing damaged is accepted."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from proctor.clock import FixedClock
from proctor.errors import EvidenceError, InfrastructureError
from proctor.ledger.checks import LogCheck
from proctor.ledger.entries import CycleStart, Recovered
from proctor.ledger.files import FileOps
from proctor.ledger.keys import Signer
from proctor.ledger.reader import read_log
from proctor.ledger.texts import TextReader, TextStore
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.verify import verify_log
from proctor.ledger.writer import LogWriter

SIGNER = Signer("test.local/a", b"\x01" * 32)
ORIGIN = SIGNER.origin("run", "r1")
TRUST = TrustFile(keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey),))
SLOW = FixedClock(step_ns=1)


def entry(n: int) -> CycleStart:
    return CycleStart(attempt="C-1/1#0", cycle=n)


def cycles(folder: Path) -> list[int]:
    return [r.entry.cycle for r in read_log(folder) if isinstance(r.entry, CycleStart)]


class NoSync(FileOps):
    """The real disk without waiting for it: for tests of what is written, not of when."""

    def sync(self, fd: int) -> None:
        pass


def finish(folder: Path) -> LogCheck:
    """Recover, write one more entry, close, verify."""
    log = LogWriter.recover(folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock(), ops=NoSync())
    log.append(entry(99))
    log.close()
    check = verify_log(folder, TRUST)
    assert check.findings == ()
    return check


def test_cut_at_every_byte(tmp_path: Path) -> None:
    """The log opens with exactly the whole entries, and the rest is kept aside."""
    log = LogWriter.create(tmp_path / "l", origin=ORIGIN, signer=SIGNER, clock=SLOW)
    for n in range(2):
        log.append(entry(n))
    log.abandon()
    whole = (tmp_path / "l/wal").read_bytes()
    start = whole.index(b"\n") + 1
    one = (len(whole) - start) // 2
    for cut in range(len(whole)):
        folder = tmp_path / "cut"
        folder.mkdir()
        (folder / "wal").write_bytes(whole[:cut])
        kept = max(0, cut - start) // one
        check = verify_log(folder, TRUST)
        assert (check.findings, check.size, check.is_open) == ((), kept, True), cut
        assert finish(folder).size == kept + 2
        assert cycles(folder) == [*range(kept), 99]
        torn = cut if cut < start else (cut - start) % one
        aside = folder / f"torn/{kept}"
        assert (aside.read_bytes() if aside.exists() else b"") == whole[cut - torn : cut]
        shutil.rmtree(folder)


def test_no_flipped_bit_of_an_open_log_is_repaired(tmp_path: Path) -> None:
    """Before the last checkpoint, or with whole entries behind it: refused, and not one byte changed."""
    log = LogWriter.create(tmp_path / "l", origin=ORIGIN, signer=SIGNER, clock=SLOW)
    log.append_many([entry(n) for n in range(5)])
    log.commit()
    log.append_many([entry(n) for n in range(5, 8)])
    log.abandon()
    path = tmp_path / "l/wal"
    good = path.read_bytes()
    last = good.rindex(b'\x00{"actor"') - 4
    rng = random.Random(7)
    for at in range(0, last, 3):
        bad = good[:at] + bytes([good[at] ^ (1 << rng.randrange(8))]) + good[at + 1 :]
        path.write_bytes(bad)
        assert verify_log(tmp_path / "l", TRUST).findings, at
        with pytest.raises(EvidenceError, match=r"nothing was changed|another origin"):
            LogWriter.recover(tmp_path / "l", origin=ORIGIN, signer=SIGNER, clock=FixedClock())
        assert path.read_bytes() == bad


class Fails(FileOps):
    """The ``n``-th operation of a kind fails, or writes only half."""

    def __init__(self, kind: str, n: int, how: str) -> None:
        self.kind, self.left, self.how = kind, n, how
        self.struck = False

    def _due(self, kind: str) -> bool:
        if kind != self.kind:
            return False
        self.left -= 1
        if self.left == 0:
            self.struck = True
        return self.left == 0

    def _fail(self) -> None:
        code = 28 if self.how == "ENOSPC" else 5
        raise OSError(code, os.strerror(code))

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        if self._due("write"):
            done = os.write(fd, data[: len(data) // 2]) if self.how != "EIO" else 0
            if self.how == "short":
                return done
            self._fail()
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        if self._due("sync"):
            self._fail()

    def open(self, path: Path, flags: int) -> int:
        if self._due("open"):
            self._fail()
        return super().open(path, flags)

    def rename(self, source: Path, target: Path) -> None:
        if self._due("rename"):
            self._fail()
        super().rename(source, target)

    def unlink(self, path: Path) -> None:
        if self._due("unlink"):
            self._fail()
        super().unlink(path)


def write_a_log(folder: Path, ops: FileOps, acknowledged: list[int]) -> None:
    """Seven commits, a checkpoint and the close of a log with texts; says what was committed as it goes."""
    texts = TextStore.create(folder / "texts" / "00", ops=ops)
    log = None
    try:
        log = LogWriter.create(folder / "log", origin=ORIGIN, signer=SIGNER, clock=FixedClock(), ops=ops)
        for group in range(7):
            numbers = list(range(group * 2, group * 2 + 2))
            for n in numbers:
                texts.put(b"text %d" % n)
                log.append(entry(n))
            texts.commit()
            log.commit()
            acknowledged.extend(numbers)
        texts.close()
        log.checkpoint()
        log.close()
        acknowledged.append(-1)
    finally:
        texts.abandon()
        if log is not None:
            log.abandon()


def crash_points() -> list[tuple[str, int, str]]:
    points = []
    for kind, hows in (
        ("write", ("ENOSPC", "EIO", "short")),
        ("sync", ("EIO", "ENOSPC")),
        ("open", ("EIO",)),
        ("rename", ("EIO",)),
        ("unlink", ("EIO",)),
    ):
        for n in range(1, 90):
            points += [(kind, n, how) for how in hows]
    return points


def test_a_fault_at_every_operation(tmp_path: Path) -> None:
    """ENOSPC, EIO and short writes at each write, sync, open, rename and unlink."""
    struck = 0
    for kind, n, how in crash_points():
        ops = Fails(kind, n, how)
        folder = tmp_path / f"{kind}-{n}-{how}"
        acknowledged: list[int] = []
        try:
            write_a_log(folder, ops, acknowledged)
            assert not ops.struck or how == "short", (kind, n, how)
        except (InfrastructureError, OSError):
            assert ops.struck
        if not ops.struck:
            continue
        struck += 1
        _nothing_is_lost(folder, acknowledged)
        shutil.rmtree(folder)
    assert struck >= 180, struck


def _nothing_is_lost(folder: Path, acknowledged: list[int]) -> None:
    promised = [n for n in acknowledged if n >= 0]
    log = folder / "log"
    if not log.exists() or not any(log.iterdir()):
        assert promised == []
        return
    check = verify_log(log, TRUST)
    assert check.findings == (), check.findings
    assert cycles(log)[: len(promised)] == promised
    if (log / "wal").exists():
        finish(log)
        assert cycles(log)[: len(promised)] == promised
    if promised:
        with TextStore.recover(folder / "texts" / "00"):
            pass
        assert len(TextReader(folder / "texts")) >= len(promised)


WRITER = """
import os, sys
from pathlib import Path
from proctor.clock import SystemClock
from proctor.ledger.entries import CycleStart
from proctor.ledger.keys import Signer
from proctor.ledger.writer import LogWriter
signer = Signer("test.local/a", b"\\x01" * 32)
origin = signer.origin("run", "r1")
folder = Path(sys.argv[1])
make = LogWriter.recover if (folder / "wal").exists() else LogWriter.create
log = make(folder, origin=origin, signer=signer, clock=SystemClock())
n = int(sys.argv[2])
while True:
    log.append(CycleStart(attempt="C-1/1#0", cycle=n))
    os.write(1, b"%d\\n" % n)
    n += 1
    if n % 7 == 0:
        log.commit()
"""


def test_killing_the_writer_loses_nothing_that_append_returned(tmp_path: Path) -> None:
    """kill -9 at random moments, again and again, on one log."""
    script = tmp_path / "writer.py"
    script.write_text(textwrap.dedent(WRITER))
    folder = tmp_path / "log"
    rng = random.Random(3)
    said: list[int] = []
    for _ in range(8):
        start = said[-1] + 1 if said else 0
        process = subprocess.Popen(
            [sys.executable, str(script), str(folder), str(start)], stdout=subprocess.PIPE, env=_environment()
        )
        assert process.stdout is not None
        said += [int(process.stdout.readline()) for _ in range(rng.randrange(1, 400))]
        process.send_signal(signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().split(b"\n")[:-1]]
        process.wait()
        process.stdout.close()
        check = verify_log(folder, TRUST)
        assert check.findings == ()
        found = cycles(folder)
        assert found[: len(said)] == said
        said = found
    finish(folder)
    assert sum(isinstance(r.entry, Recovered) for r in read_log(folder)) == 8


def _environment() -> dict[str, Any]:
    import proctor

    return {**os.environ, "PYTHONPATH": str(Path(proctor.__file__).parents[1])}


def test_a_power_cut_keeps_what_was_committed(tmp_path: Path) -> None:
    """Everything behind the last sync may be gone, or be zeros, or be half of each."""
    log = LogWriter.create(tmp_path / "l", origin=ORIGIN, signer=SIGNER, clock=SLOW)
    log.append_many([entry(n) for n in range(6)])
    log.commit()
    synced = (tmp_path / "l/wal").stat().st_size
    log.append_many([entry(n) for n in range(6, 9)])
    log.abandon()
    whole = (tmp_path / "l/wal").read_bytes()
    note = (tmp_path / "l/checkpoint").read_bytes()
    rng = random.Random(5)
    for _ in range(40):
        cut = rng.randrange(synced, len(whole) + 1)
        zeros = rng.choice((0, 0, 1, 50, 4096))
        folder = tmp_path / "cut"
        folder.mkdir()
        (folder / "wal").write_bytes(whole[:cut] + bytes(zeros))
        (folder / "checkpoint").write_bytes(note)
        assert verify_log(folder, TRUST).findings == ()
        finish(folder)
        assert cycles(folder)[:6] == list(range(6))
        shutil.rmtree(folder)
