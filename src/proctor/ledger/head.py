"""The signed head of a log, checked against the keys that are believed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proctor.clock import utc_text
from proctor.errors import EvidenceError
from proctor.ledger.checks import Finding, Trust
from proctor.ledger.keys import KeyKind, PublicKey
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint, open_note, parse_checkpoint, split_note
from proctor.ledger.trust import TrustFile

__all__ = ["Head", "check_head", "check_validity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A checkpoint and who signed it; ``checkpoint`` is None where it can't be read at all."""

    checkpoint: Checkpoint | None
    trust: Trust = Trust.UNSIGNED
    signers: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()


def check_head(folder: Path, trust: TrustFile, findings: list[Finding]) -> Head:
    """Read and verify ``checkpoint``; every fault goes to ``findings``."""
    try:
        data = (folder / CHECKPOINT_NAME).read_bytes()
        text, signatures = split_note(data)
        checkpoint = parse_checkpoint(text)
    except (FileNotFoundError, IsADirectoryError):
        findings.append(Finding.at(CHECKPOINT_NAME, "missing_file", "the log's signed head is missing"))
        return Head(checkpoint=None)
    except EvidenceError as error:
        findings.append(Finding.of(error, CHECKPOINT_NAME))
        return Head(checkpoint=None)
    if checkpoint.extensions or len({s.line for s in signatures}) != len(signatures):
        findings.append(
            Finding.at(
                CHECKPOINT_NAME,
                "extra_lines",
                "the head has lines that no writer of this log makes",
                expected="three lines and each signature once",
            )
        )
    logs = {one.vkey: one.key.renamed(checkpoint.origin) for one in trust.log_keys(checkpoint.origin)}
    try:
        note = open_note(data, [*logs.values(), *trust.witness_keys()])
    except EvidenceError as error:
        findings.append(Finding.of(error, CHECKPOINT_NAME))
        return Head(checkpoint=checkpoint)
    for one in note.unknown:
        findings.append(
            Finding.at(
                CHECKPOINT_NAME,
                "unknown_signature",
                "a signature by a key that is not in the trust file",
                expected="the log's key and known witnesses only",
                found=f"{one.name}+{one.key_id.hex()}",
            )
        )
    return _judge(checkpoint, note.verified, logs, trust, findings)


def _judge(
    checkpoint: Checkpoint,
    verified: tuple[PublicKey, ...],
    logs: dict[str, PublicKey],
    trust: TrustFile,
    findings: list[Finding],
) -> Head:
    signers = tuple(vkey for vkey, key in logs.items() if key in verified)
    witnesses = tuple(sorted({key.name for key in verified if key.kind is KeyKind.COSIGNATURE}))
    if not signers:
        findings.append(
            Finding.at(CHECKPOINT_NAME, "not_signed_by_log", "only witnesses signed this head, not the log's own key")
        )
    if len(witnesses) < trust.quorum:
        findings.append(
            Finding.at(
                CHECKPOINT_NAME,
                "quorum",
                "too few witnesses signed this head",
                expected=f"{trust.quorum} as the trust file asks",
                found=len(witnesses),
            )
        )
    level = Trust.WITNESSED if witnesses else Trust.SELF_SIGNED
    return Head(checkpoint=checkpoint, trust=level if signers else Trust.UNSIGNED, signers=signers, witnesses=witnesses)


def check_validity(head: Head, trust: TrustFile, t_ns: int, findings: list[Finding]) -> None:
    """Whether the signing key was valid at the time of the last entry that it signed."""
    keys = [one for one in trust.keys if one.vkey in head.signers]
    if keys and not any(one.holds_at(t_ns) for one in keys):
        findings.append(
            Finding.at(
                CHECKPOINT_NAME,
                "key_not_valid",
                "the signing key was not valid when the last entry was made",
                expected=f"from {keys[0].valid_from or 'ever'} until {keys[0].valid_until or 'ever'}",
                found=utc_text(t_ns),
            )
        )
