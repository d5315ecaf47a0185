"""Sealing: what may be sealed, what the seal says, and that none of its bytes can change."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from proctor.clock import FixedClock
from proctor.codec.canonical import digest_bytes
from proctor.errors import EvidenceError, IsolationError, UsageError
from proctor.ledger.dsse import open_envelope, pre_authentication, sign_envelope
from proctor.ledger.entries import KeyRotated, PlanRegistered, RunClosed, RunSealed
from proctor.ledger.keys import Signer
from proctor.ledger.reader import read_log
from proctor.ledger.workspace import (
    WORKSPACE_LOG,
    Standing,
    add_to_workspace,
    missing_runs,
    read_workspace,
    standing_of,
    standing_text,
)
from proctor.verification.model import RegradeAnswer, RunCheck
from proctor.verification.run import verify_run
from proctor.verification.seal import seal_run

from .synthetic import SIGNER, TRUST, closed_run


def checked(run: Path, status: str = "done") -> RunCheck:
    return verify_run(run, TRUST, regrade=lambda _: RegradeAnswer(status=status))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return closed_run(tmp_path / "r", cases=1, runs=1)


def seal(run: Path) -> bytes:
    return seal_run(run, checked(run), signer=SIGNER, standing=Standing(index=2, of=3, verdicts=()), least_tier="T1")


def test_the_published_envelope(conformance: Path) -> None:
    known = json.loads((conformance / "vectors/dsse/protocol_vector.json").read_text())
    assert pre_authentication(known["payloadType"], known["body"].encode()) == known["pae"].encode()
    assert base64.b64decode(known["envelope"]["payload"]) == known["body"].encode()
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    key = ec.EllipticCurvePublicNumbers(int(known["x"]), int(known["y"]), ec.SECP256R1()).public_key()
    raw = base64.b64decode(known["envelope"]["signatures"][0]["sig"])
    signature = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key.verify(signature, pre_authentication(known["payloadType"], b"hello world"), ec.ECDSA(SHA256()))


def test_the_envelope_of_the_example_run() -> None:
    folder = Path(__file__).parents[2] / "golden/example-run"
    keys = json.loads((folder / "keys.json").read_text())
    from proctor.ledger.keys import parse_vkey

    payload, key = open_envelope((folder / "run.intoto.json").read_bytes(), [parse_vkey(keys["log_vkey"])])
    assert key.vkey == keys["log_vkey"]
    assert json.loads(payload)["predicate"]["log"]["size"] == 278


def test_a_seal_says_what_was_checked(run: Path) -> None:
    data = seal(run)
    payload, key = open_envelope(data, [SIGNER.public])
    statement = json.loads(payload)
    assert key == SIGNER.public
    assert [one["name"] for one in statement["subject"]] == [
        "cells.jsonl",
        "isolation.json",
        "ledger/checkpoint",
        "plan.json",
        "report.json",
    ]
    predicate = statement["predicate"]
    assert predicate["attempt"] == {"index": 2, "ofPlan": 3}
    assert predicate["isolation"] == {"demanded": "T1", "held": "T1"}
    assert predicate["accounting"]["planned"] == 1
    assert predicate["scoringVersion"].startswith("sha256:")
    check = checked(run)
    assert (check.findings, check.exit_code) == ((), 0)
    assert "sealed: the statement's signature, files and log hold" in check.notes


def test_no_byte_of_a_seal_can_change(run: Path) -> None:
    good = seal(run)
    path = run / "seal.dsse.json"
    for at in [*range(0, len(good), 41), len(good) - 1]:
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert {one.file for one in checked(run).findings} == {"seal.dsse.json"}, at
    path.write_bytes(good + b"\n")
    assert [one.code for one in checked(run).findings] == ["malformed_envelope"]
    path.write_bytes(sign_envelope(open_envelope(good, [SIGNER.public])[0], Signer("x.y", b"\x03" * 32)))
    assert [one.code for one in checked(run).findings] == ["unknown_key"]


def test_the_seal_of_another_run(run: Path, tmp_path: Path) -> None:
    other = closed_run(tmp_path / "o" / "r", run_id="r2", cases=1, runs=1)
    seal(other)
    shutil.copyfile(other / "seal.dsse.json", run / "seal.dsse.json")
    found = checked(run).findings
    assert {one.code for one in found} == {"seal_differs"}
    assert "the seal is that of another log" in found[0].message


def test_what_can_not_be_sealed(run: Path) -> None:
    with pytest.raises(IsolationError, match=r"does not carry a seal; expected T2 or more; found T1; run the suite"):
        seal_run(run, checked(run), signer=SIGNER, standing=None)
    with pytest.raises(EvidenceError, match=r"only a run that is intact.*found intact, complete, not done: no graders"):
        seal_run(run, checked(run, "not done: no graders"), signer=SIGNER, standing=None)
    seal(run)
    with pytest.raises(UsageError, match="sealed already"):
        seal(run)
    (run / "seal.dsse.json").unlink()
    (run / "report.json").write_bytes(b"{}")
    with pytest.raises(EvidenceError, match="found broken"):
        seal(run)


def closed(run: Path, run_id: str) -> RunClosed:
    check = verify_run(run, TRUST)
    return RunClosed(rootSha256=check.root, runId=run_id, size=check.size, verdict="PASS")


def test_best_of_n_and_deleted_runs_show(tmp_path: Path) -> None:
    clock = FixedClock()
    for number in (1, 2, 3):
        run_id = f"r{number}"
        run = closed_run(tmp_path / run_id, run_id=run_id, cases=1, runs=1)
        plan = digest_bytes((run / "plan.json").read_bytes())
        origin = SIGNER.origin("run", run_id)
        registered = PlanRegistered(origin=origin, planDigest=plan, runId=run_id)
        add_to_workspace(tmp_path, registered, signer=SIGNER, clock=clock)
        if number != 2:
            add_to_workspace(tmp_path, closed(run, run_id), signer=SIGNER, clock=clock)
    runs = read_workspace(tmp_path)
    standing = standing_of(runs, "r3")
    assert standing is not None
    assert standing_text(standing) == "run 3 of 3 for this plan (verdicts: PASS, never closed, PASS)"
    assert standing_of(runs, "r9") is None
    assert missing_runs(tmp_path, runs) == []
    shutil.rmtree(tmp_path / "r1")
    check = verify_run(tmp_path / "r3", TRUST)
    assert "run 3 of 3 for this plan (verdicts: PASS, never closed, PASS)" in check.notes
    assert "runs of this plan that are gone from the workspace: r1" in check.notes
    assert check.exit_code == 0


def test_a_run_put_in_the_place_of_another(tmp_path: Path) -> None:
    """Made anew under the same id with the signer's own key: the workspace knows the first one's root."""
    clock = FixedClock()
    run = closed_run(tmp_path / "r", cases=1, runs=1)
    plan = digest_bytes((run / "plan.json").read_bytes())
    origin = SIGNER.origin("run", "r1")
    add_to_workspace(tmp_path, PlanRegistered(origin=origin, planDigest=plan, runId="r1"), signer=SIGNER, clock=clock)
    add_to_workspace(tmp_path, closed(run, "r1"), signer=SIGNER, clock=clock)
    sealed = RunSealed(rootSha256="0", runId="r1", sealDigest=digest_bytes(seal(run)))
    add_to_workspace(tmp_path, sealed, signer=SIGNER, clock=clock)
    assert verify_run(run, TRUST).findings == ()
    (run / "seal.dsse.json").unlink()
    assert [one.code for one in verify_run(run, TRUST).findings] == ["seal_differs"]
    shutil.rmtree(run)
    closed_run(run, cases=1, runs=1)
    assert {one.code for one in verify_run(run, TRUST).findings} == {"workspace_differs", "seal_differs"}


def test_the_workspace_log_is_checked_too(tmp_path: Path) -> None:
    run = closed_run(tmp_path / "r", cases=1, runs=1)
    entry = KeyRotated(newVkey="a", oldVkey="b")
    assert [add_to_workspace(tmp_path, entry, signer=SIGNER, clock=FixedClock()) for _ in range(3)] == [1, 2, 3]
    assert len(list(read_log(tmp_path / WORKSPACE_LOG))) == 3
    assert "does not know this run" in " ".join(verify_run(run, TRUST).notes)
    wal = tmp_path / WORKSPACE_LOG / "wal"
    wal.write_bytes(wal.read_bytes()[:-40])
    found = verify_run(run, TRUST).findings
    assert [(one.code, one.file) for one in found] == [("signed_part_lost", "../workspace.log/wal")]
    assert msgspec.to_builtins(found)
