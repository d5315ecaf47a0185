"""Checking a log: what is named, and where."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proctor.clock import FixedClock
from proctor.errors import EvidenceError
from proctor.ledger.checks import LogCheck, Trust
from proctor.ledger.entries import CycleStart
from proctor.ledger.keys import Signer
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.verify import verify_log
from proctor.ledger.writer import LogWriter

SIGNER = Signer("test.local/a", b"\x01" * 32)
ORIGIN = SIGNER.origin("run", "r1")
TRUST = TrustFile(keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey),))


def entry(n: int) -> CycleStart:
    return CycleStart(attempt="C-1/1#0", cycle=n)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogWriter]:
    with LogWriter.create(tmp_path / "ledger", origin=ORIGIN, signer=SIGNER, clock=FixedClock()) as writer:
        writer.append_many([entry(n) for n in range(300)])
        yield writer


def codes(check: LogCheck) -> list[str]:
    return [one.code for one in check.findings]


def test_a_closed_log_verifies(log: LogWriter) -> None:
    head = log.close()
    seen: list[int] = []
    check = verify_log(log.folder, TRUST, visit=lambda seq, _t, _e: seen.append(seq))
    assert check == LogCheck(
        findings=(), origin=ORIGIN, size=300, root=head.root, signed_size=300, trust=Trust.SELF_SIGNED
    )
    assert seen == list(range(300))


def test_an_open_log_verifies_as_far_as_it_goes(log: LogWriter) -> None:
    check = verify_log(log.folder, TRUST)
    assert (codes(check), check.is_open, check.size, check.trust) == ([], True, 300, Trust.UNSIGNED)
    log.commit()
    log.append(entry(7))
    with (log.folder / "wal").open("ab") as stream:
        stream.write(b"torn")
    check = verify_log(log.folder, TRUST)
    assert (codes(check), check.size, check.signed_size, check.torn_bytes) == ([], 301, 300, 4)
    assert check.trust is Trust.SELF_SIGNED


def test_strict_listing(log: LogWriter) -> None:
    log.close()
    (log.folder / "tile/0/002").write_bytes(b"")
    (log.folder / "empty").mkdir()
    (log.folder / "tile/link").symlink_to(log.folder / "checkpoint")
    (log.folder / "tile/1/000.p/1").unlink()
    found = {one.file: one.code for one in verify_log(log.folder, TRUST).findings}
    assert found["tile/0/002"] == "extra_file"
    assert found["empty"] == "extra_file"
    assert found["tile/link"] in ("special_file", "extra_file")
    assert found["tile/1/000.p/1"] == "missing_file"


def test_a_changed_entry_is_named(log: LogWriter) -> None:
    log.close()
    path = log.folder / "tile/entries/000"
    path.write_bytes(path.read_bytes().replace(b'"cycle":77}', b'"cycle":78}'))
    check = verify_log(log.folder, TRUST)
    assert codes(check) == ["root_differs", "entry_changed", "tile_differs", "tile_differs"]
    assert [(one.file, one.field) for one in check.findings[1:]] == [
        ("tile/entries/000", "entry 77"),
        ("tile/0/000", "hash 77"),
        ("tile/1/000.p/1", "hash 0"),
    ]


def test_entries_that_are_not_canonical_are_named(log: LogWriter) -> None:
    log.close()
    path = log.folder / "tile/entries/001.p/44"
    good = path.read_bytes()
    for old, new, message in (
        (b'"seq":299', b'"seq":298', "it says it is number 298"),
        (
            b'{"actor":"runner","data":{"attempt":"C-1/1#0"',
            b'{"actor":"runner","data":{ "attempt":"C-1/1#"',
            "canonical",
        ),
        (b'"cycle.start","seq":299', b'"cycle.stork","seq":299', "Invalid value 'cycle.stork'"),
        (
            b'"runner","data":{"attempt":"C-1/1#0","cycle":299',
            b'"rumner","data":{"attempt":"C-1/1#0","cycle":299',
            "rumner",
        ),
        (b',"v":1}', b',"v":2}', "Invalid enum value 2"),
    ):
        at = good.rfind(old)
        assert at > 0 and len(old) == len(new)
        path.write_bytes(good[:at] + new + good[at + len(new) :])
        check = verify_log(log.folder, TRUST)
        assert codes(check)[:1] == ["bad_entry"], old
        assert check.findings[0].file == "tile/entries/001.p/44"
        assert check.findings[0].field == "entry 299"
        assert message in check.findings[0].message


def test_a_log_of_a_stranger_is_not_believed(log: LogWriter) -> None:
    log.close()
    check = verify_log(log.folder, TrustFile())
    assert codes(check) == ["unknown_key"]
    assert check.trust is Trust.UNSIGNED
    other = Signer("test.local/a", b"\x02" * 32)
    check = verify_log(log.folder, TrustFile(keys=(TrustedKey(role="log", vkey=other.public.vkey),)))
    assert codes(check) == ["unknown_key"]


def test_a_key_is_believed_for_its_time(log: LogWriter) -> None:
    log.close()
    early = TrustFile(
        keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey, valid_until=datetime(2025, 1, 1, tzinfo=UTC)),)
    )
    check = verify_log(log.folder, early)
    assert codes(check) == ["key_not_valid"]
    assert "expected from ever until 2025-01-01" in check.findings[0].message


def test_damage_in_the_middle_of_an_open_log_is_refused_not_repaired(log: LogWriter) -> None:
    log.abandon()
    path = log.folder / "wal"
    good = path.read_bytes()
    path.write_bytes(good[:5000] + bytes([good[5000] ^ 4]) + good[5001:])
    check = verify_log(log.folder, TRUST)
    assert codes(check) == ["damaged_middle"]
    with pytest.raises(EvidenceError, match=r"damaged in the middle.*nothing was changed"):
        LogWriter.recover(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())
    assert path.read_bytes() == good[:5000] + bytes([good[5000] ^ 4]) + good[5001:]


def test_what_a_checkpoint_signed_must_be_there(log: LogWriter) -> None:
    log.commit()
    log.abandon()
    path = log.folder / "wal"
    good = path.read_bytes()
    path.write_bytes(good[:-30])
    check = verify_log(log.folder, TRUST)
    assert codes(check) == ["signed_part_lost"]
    with pytest.raises(EvidenceError, match="entries that a checkpoint signed are gone"):
        LogWriter.recover(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())
    assert path.read_bytes() == good[:-30]


def test_what_a_recovery_moved_aside_is_part_of_the_evidence(log: LogWriter) -> None:
    log.abandon()
    with (log.folder / "wal").open("ab") as stream:
        stream.write(b"torn")
    again = LogWriter.recover(log.folder, origin=ORIGIN, signer=SIGNER, clock=FixedClock())
    again.close()
    assert codes(verify_log(log.folder, TRUST)) == []
    (log.folder / "torn/300").write_bytes(b"tern")
    assert codes(verify_log(log.folder, TRUST)) == ["torn_differs"]
    (log.folder / "torn/300").unlink()
    assert "missing_file" in codes(verify_log(log.folder, TRUST))
