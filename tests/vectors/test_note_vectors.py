"""Published signed notes, keys and signatures, and what Go's tests demand of a note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvidenceError, InputError
from proctor.ledger.keys import PublicKey, Signer, parse_vkey
from proctor.ledger.note import cosign, open_note, sign_note, split_note

SIGNER = Signer("a.example/log", b"\x07" * 32)
NOTE = sign_note("one\ntwo\n", SIGNER)


def load(conformance: Path) -> dict[str, Any]:
    return json.loads((conformance / "vectors/signed-note/notes.json").read_text())


def test_published_notes_verify(conformance: Path) -> None:
    for row in load(conformance)["vectors"]:
        keys = [parse_vkey(one) for one in row["vkeys"]]
        note = open_note(row["note"].encode(), keys)
        assert note.verified == tuple(keys)
        assert note.unknown == ()


def test_bad_keys_are_refused(conformance: Path) -> None:
    known = load(conformance)
    for text in known["must_reject_as_vkey"]:
        with pytest.raises(InputError, match="not a verifier key"):
            parse_vkey(text)
    for row in known["vectors"]:
        for good in row["vkeys"]:
            assert parse_vkey(good).vkey == good
            spoiled = {good[:i] for i in range(len(good))} | {good[i:] for i in range(1, len(good))}
            spoiled |= {good[:i] + chr(ord(good[i]) + 1) + good[i + 1 :] for i in range(len(good))}
            for text in spoiled:
                with pytest.raises(InputError):
                    parse_vkey(text)


def test_wycheproof_ed25519(conformance: Path) -> None:
    known = json.loads((conformance / "vectors/ed25519/wycheproof_ed25519_test.json").read_text())
    count = 0
    for group in known["testGroups"]:
        key = PublicKey(name="x", raw=bytes.fromhex(group["publicKey"]["pk"]))
        for test in group["tests"]:
            count += 1
            holds = key.verify(bytes.fromhex(test["msg"]), bytes.fromhex(test["sig"]))
            assert holds is (test["result"] == "valid"), test["tcId"]
    assert count == 151


@pytest.mark.parametrize(
    "data",
    [
        NOTE[:-1],
        NOTE + b"after\n",
        NOTE.replace(b"\n\n", b"\n"),
        NOTE.replace(b"one", b"o\x01e"),
        NOTE.replace(b"one", b"o\xffe"),
        NOTE.replace("— ".encode(), b"- "),
        NOTE.replace("— a.example".encode(), "— a example".encode()),
        b"one\ntwo\n\n" + NOTE.split(b"\n\n")[1] * 101,
        b"one\n\n",
    ],
)
def test_malformed_notes(data: bytes) -> None:
    with pytest.raises(EvidenceError) as caught:
        open_note(data, [SIGNER.public])
    assert caught.value.code == "malformed_note"
    assert "expected a C2SP signed note" in caught.value.message


def test_a_note_is_only_as_good_as_its_known_signatures() -> None:
    other = Signer("b.example", b"\x08" * 32)
    both = NOTE + sign_note("one\ntwo\n", other).split(b"\n\n")[1]
    assert open_note(NOTE + NOTE.split(b"\n\n")[1], [SIGNER.public]).verified == (SIGNER.public,)
    note = open_note(both, [SIGNER.public])
    assert [one.name for one in note.unknown] == ["b.example"]
    with pytest.raises(EvidenceError, match=r"no known key signed this.*found b\.example.*from the signer"):
        open_note(sign_note("one\n", other), [SIGNER.public])
    with pytest.raises(EvidenceError, match="does not verify"):
        open_note(both.replace(b"one", b"two"), [SIGNER.public])
    with pytest.raises(EvidenceError, match="two known keys have the same name and id"):
        open_note(NOTE, [SIGNER.public, SIGNER.public])
    assert open_note(sign_note("x\n", other), [SIGNER.public, SIGNER.public, other.public]).verified


def test_a_witness_signs_the_time_too() -> None:
    witness = Signer("w.example", b"\x09" * 32)
    data = cosign(NOTE, witness, seconds=1_764_500_000)
    text, signatures = split_note(data)
    assert (text, len(signatures)) == ("one\ntwo\n", 2)
    from proctor.ledger.keys import KeyKind

    key = PublicKey(name="w.example", raw=witness.public.raw, kind=KeyKind.COSIGNATURE)
    assert open_note(data, [SIGNER.public, key]).verified == (SIGNER.public, key)
    later = data[:-90] + cosign(NOTE, witness, seconds=1_764_500_001)[-90:-60] + data[-60:]
    with pytest.raises(EvidenceError):
        open_note(later, [SIGNER.public, key])
