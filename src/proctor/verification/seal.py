"""The seal of a run: an in-toto statement about its files and its log, in a DSSE envelope beside them.

A run is sealed once it was checked, is intact and complete, and held the isolation that a seal needs. The statement
says what was computed, whose word the rest is, and what is not claimed. Scores and shares in it are decimal strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor._version import __version__
from proctor.clock import utc_text
from proctor.codec.canonical import canonical_bytes, digest_bytes, digest_json
from proctor.errors import EvidenceError, IsolationError, Place, UsageError
from proctor.ledger.checks import Finding
from proctor.ledger.closing import LEDGER_NAME, SEAL_NAME, digest_of
from proctor.ledger.dsse import open_envelope, sign_envelope
from proctor.ledger.files import DISK, write_new
from proctor.ledger.keys import Signer
from proctor.ledger.note import CHECKPOINT_NAME
from proctor.ledger.reader import read_log
from proctor.ledger.trust import TrustFile
from proctor.ledger.workspace import Standing
from proctor.suite.plan import Plan
from proctor.verification.model import Completeness, RunCheck

__all__ = ["PREDICATE_TYPE", "TIERS", "check_seal", "identity_of", "seal_run", "statement_of"]

PREDICATE_TYPE: Final = "https://proctor.invalid/attestation/agent-eval-run/v1"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
TIERS: Final = ("T0", "T1", "T2", "T3", "T4")
_SUBJECTS: Final = ("plan.json", "isolation.json", "cells.jsonl", "report.json")
_NOT_CLAIMED: Final = (
    "that the signer did not make up the record",
    "that the agent or model is the one that was named, where that is attested",
    "that the agent never saw the cases before",
)


def identity_of(plan: Plan, isolation: Mapping[str, Any]) -> dict[str, Any]:
    """What a result is the result of; its digest is the ``scoringVersion``."""
    return {
        "candidate": {"agent": plan.candidate.agent, "digest": plan.candidate.digest},
        "suite": {"name": plan.suite, "version": plan.suite_version, "digest": plan.suite_digest},
        "datasetDigest": plan.dataset_digest,
        "graderDigest": plan.grader_digest,
        "gateDigest": plan.gate_digest,
        "seed": str(plan.seed),
        "runs": plan.runs,
        "isolation": {"demanded": plan.isolation, "held": str(isolation.get("tier"))},
        "proctor": plan.proctor,
    }


def statement_of(run: Path, check: RunCheck, standing: Standing | None) -> dict[str, Any]:
    """The in-toto statement about a checked run."""
    plan = msgspec.json.decode((run / "plan.json").read_bytes(), type=Plan)
    isolation = json.loads((run / "isolation.json").read_bytes())
    report = json.loads((run / "report.json").read_bytes())
    times = [record.t_ns for record in read_log(run / LEDGER_NAME)]
    identity = identity_of(plan, isolation)
    names = [f"{LEDGER_NAME}/{CHECKPOINT_NAME}", *(name for name in _SUBJECTS if (run / name).is_file())]
    attested = dict(sorted(plan.candidate.attested.items()))
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest_of(run / name)[1]}} for name in sorted(names)],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "runId": check.run_id,
            "startedOn": utc_text(times[0]),
            "finishedOn": utc_text(times[-1]),
            "log": {"origin": check.origin, "size": check.size, "rootSha256": check.root},
            "plan": {"digest": digest_bytes((run / "plan.json").read_bytes()), "logIndex": 0},
            "identity": identity,
            "scoringVersion": digest_json(identity),
            "attested": attested,
            "isolation": {"demanded": plan.isolation, "held": identity["isolation"]["held"]},
            "accounting": {
                "planned": check.planned,
                "graded": check.graded,
                "outcomes": {str(k): int(v) for k, v in sorted(report.get("outcomes", {}).items()) if v},
            },
            "verdict": report.get("verdict"),
            "attempt": None if standing is None else {"index": standing.index, "ofPlan": standing.of},
            "integrity": {
                "completeness": check.completeness.value,
                "regrade": check.regrade,
                "trust": check.trust.value,
            },
            "harness": {"name": "proctor", "version": __version__},
            "notClaimed": list(_NOT_CLAIMED),
        },
    }


def seal_run(run: Path, check: RunCheck, *, signer: Signer, standing: Standing | None, least_tier: str = "T2") -> bytes:
    """Write ``seal.dsse.json`` into a run that ``check`` found intact and complete; its bytes.

    Raises ``EvidenceError`` for a run that is neither, ``IsolationError`` below ``least_tier``, and ``UsageError``
    where there is a seal already.
    """
    path = run / SEAL_NAME
    if path.exists():
        raise UsageError("the run is sealed already", place=Place(str(path)), code="sealed_already")
    if check.findings or check.completeness is not Completeness.COMPLETE or check.regrade != "done":
        raise EvidenceError(
            "only a run that is intact, complete and graded the same again can be sealed",
            place=Place(str(run)),
            expected="integrity intact, completeness complete, regrade done",
            found=f"{check.integrity.value}, {check.completeness.value}, {check.regrade}",
            fix=f"proctor verify {run}",
            code="not_sealable",
        )
    statement = statement_of(run, check, standing)
    held = statement["predicate"]["isolation"]["held"]
    if held not in TIERS or TIERS.index(held) < max(1, TIERS.index(least_tier)):
        raise IsolationError(
            "the run's isolation does not carry a seal",
            place=Place(str(run / "isolation.json"), field="tier"),
            expected=f"{least_tier} or more",
            found=held,
            fix="run the suite under a higher tier; --least-tier T1 seals it anyway and says so (T0 never)",
            code="tier_too_low",
        )
    data = sign_envelope(canonical_bytes(statement), signer)
    write_new(DISK, path, data)
    return data


def check_seal(run: Path, check_root: str, check_size: int, trust: TrustFile, origin: str | None) -> list[Finding]:
    """A run's seal, if it has one: signed by a believed key of this log, about exactly these files."""
    path = run / SEAL_NAME
    if not path.exists():
        return []
    keys = [one.key for one in trust.log_keys(origin or "")]
    try:
        payload, _ = open_envelope(path.read_bytes(), keys)
        statement = msgspec.json.decode(payload)
        if canonical_bytes(statement) != payload:
            raise EvidenceError("the statement's bytes are not canonical", code="malformed_statement")
        return _compare(run, statement, check_root, check_size, origin)
    except EvidenceError as error:
        return [Finding.of(error, SEAL_NAME)]
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        return [Finding.at(SEAL_NAME, "malformed_statement", "the seal's statement is not one of ours", found=error)]


def _compare(run: Path, statement: Any, root: str, size: int, origin: str | None) -> list[Finding]:
    findings = []
    log = statement["predicate"]["log"]
    if statement["_type"] != STATEMENT_TYPE or statement["predicateType"] != PREDICATE_TYPE:
        findings.append(Finding.at(SEAL_NAME, "malformed_statement", "the statement is of another type"))
    if (log["rootSha256"], log["size"], log["origin"]) != (root, size, origin):
        findings.append(
            Finding.at(
                SEAL_NAME,
                "seal_differs",
                "the seal is that of another log",
                field="predicate.log",
                expected=f"{origin}, {size} entries, root {root}",
                found=f"{log['origin']}, {log['size']} entries, root {log['rootSha256']}",
            )
        )
    for subject in statement["subject"]:
        path = run / subject["name"]
        if not path.is_file() or digest_of(path)[1] != subject["digest"]["sha256"]:
            findings.append(
                Finding.at(SEAL_NAME, "seal_differs", "a sealed file is not as it was sealed", field=subject["name"])
            )
    return findings
