"""Signed notes and log checkpoints as text (C2SP signed-note, tlog-checkpoint, tlog-cosignature). Pure.

Rules kept: a signature by a known key that does not verify refuses the whole note; signatures by unknown keys
are kept apart and count for nothing; a note without any verified signature is refused; a key configured twice
is an error only where it is used. Left out: which keys are known, that is the caller's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proctor.errors import EvidenceError, Place
from proctor.ledger.keys import KeyKind, PublicKey, Signer, decode_base64, is_key_name
from proctor.ledger.merkle import HASH_BYTES

__all__ = [
    "CHECKPOINT_NAME",
    "Checkpoint",
    "Note",
    "Signature",
    "cosign",
    "open_note",
    "parse_checkpoint",
    "sign_note",
]

CHECKPOINT_NAME: Final = "checkpoint"
_SIGNATURE_LIMIT: Final = 100
_NOTE_LIMIT_BYTES: Final = 1_000_000
_DASH: Final = "— "
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One signature line: the key's name and id, and the signature's bytes (a cosignature starts with its
    time).
    """

    name: str
    key_id: bytes
    signature: bytes

    @property
    def line(self) -> str:
        """As it stands in the note."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note whose known signatures all verify. ``text`` ends in a newline."""

    text: str
    verified: tuple[PublicKey, ...]
    unknown: tuple[Signature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a log's head says: its origin, how many entries it has, and the root over them."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The note's text."""
        lines = (self.origin, str(self.size), base64.b64encode(self.root).decode(), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


def _refuse(problem: str, file: str | None, code: str, found: object = None) -> EvidenceError:
    return EvidenceError(problem, place=Place(file), expected="a C2SP signed note", found=found, code=code)


def split_note(data: bytes, *, file: str | None = None) -> tuple[str, list[Signature]]:
    """Text and signature lines of a note, unverified. Raises ``EvidenceError`` with code
    ``malformed_note``.
    """
    try:
        whole = data.decode()
    except UnicodeDecodeError as error:
        raise _refuse("the note is not UTF-8", file, "malformed_note", f"byte {error.start}") from None
    if len(data) > _NOTE_LIMIT_BYTES or any(ord(c) < 0x20 and c != "\n" for c in whole):
        raise _refuse("the note is too long or has control characters", file, "malformed_note")
    at = whole.rfind("\n\n")
    if at < 0 or not whole.endswith("\n") or at + 2 == len(whole):
        raise _refuse("the note lacks its blank line, its signatures or its last newline", file, "malformed_note")
    lines = whole[at + 2 : -1].split("\n")
    if len(lines) > _SIGNATURE_LIMIT:
        raise _refuse("the note has too many signatures", file, "malformed_note", len(lines))
    signatures = []
    for line in lines:
        name, space, encoded = line.removeprefix(_DASH).partition(" ")
        raw = decode_base64(encoded)
        if not line.startswith(_DASH) or not space or not is_key_name(name) or raw is None or len(raw) < 5:
            raise _refuse("a signature line is malformed", file, "malformed_note", line)
        signatures.append(Signature(name=name, key_id=raw[:4], signature=raw[4:]))
    return whole[: at + 1], signatures


def open_note(data: bytes, keys: Sequence[PublicKey], *, file: str | None = None) -> Note:
    """Read a note and verify it by known keys.

    Raises ``EvidenceError``: ``malformed_note``, ``ambiguous_key``, ``bad_signature`` (a known key's
    signature does not verify) or ``unknown_key`` (no known key signed it).
    """
    text, signatures = split_note(data, file=file)
    verified: list[PublicKey] = []
    unknown: list[Signature] = []
    seen: set[tuple[str, bytes]] = set()
    for signature in signatures:
        identity = (signature.name, signature.key_id)
        known = [key for key in keys if (key.name, key.key_id) == identity]
        if not known:
            unknown.append(signature)
            continue
        if len(known) > 1:
            raise _refuse("two known keys have the same name and id", file, "ambiguous_key", signature.name)
        if identity in seen:
            continue
        seen.add(identity)
        if not _verifies(known[0], text, signature.signature):
            raise EvidenceError(
                "the signature does not verify",
                place=Place(file),
                expected=f"a signature by {known[0].vkey}",
                fix="the note, or the signature, was changed after signing",
                code="bad_signature",
            )
        verified.append(known[0])
    if not verified:
        names = ", ".join(sorted({f"{s.name}+{s.key_id.hex()}" for s in signatures}))
        raise EvidenceError(
            "no known key signed this",
            place=Place(file),
            expected="a signature by a key in the trust file",
            found=names,
            fix="get the signer's key from the signer, never from this folder, and `proctor keys trust` it",
            code="unknown_key",
        )
    return Note(text=text, verified=tuple(verified), unknown=tuple(unknown))


def _verifies(key: PublicKey, text: str, signature: bytes) -> bool:
    if key.kind is KeyKind.ED25519:
        return key.verify(text.encode(), signature)
    seconds = int.from_bytes(signature[:8], "big")
    return len(signature) == 72 and key.verify(_cosigned(text, seconds), signature[8:])


def _cosigned(text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def sign_note(text: str, signer: Signer) -> bytes:
    """A note with one signature. ``text`` ends in a newline."""
    signature = Signature(name=signer.name, key_id=signer.public.key_id, signature=signer.sign(text.encode()))
    return f"{text}\n{signature.line}".encode()


def witness_key(signer: Signer) -> PublicKey:
    """The key of a signer as a witness: the same bytes, but it verifies cosignatures only."""
    return PublicKey(name=signer.name, raw=signer.public.raw, kind=KeyKind.COSIGNATURE)


def cosign(note: bytes, signer: Signer, *, seconds: int) -> bytes:
    """The note with a witness's cosignature/v1 added: it saw this head at ``seconds`` since the epoch."""
    text, _ = split_note(note)
    public = witness_key(signer)
    signature = seconds.to_bytes(8, "big") + signer.sign(_cosigned(text, seconds))
    return note + Signature(name=public.name, key_id=public.key_id, signature=signature).line.encode()


def parse_checkpoint(text: str, *, file: str | None = None) -> Checkpoint:
    """Read a checkpoint's text. Raises ``EvidenceError`` with code ``malformed_checkpoint``."""
    lines = text.split("\n")
    root = decode_base64(lines[2]) if len(lines) >= 4 else None
    good = root is not None and len(root) == HASH_BYTES and lines[-1] == "" and all(lines[:-1])
    if not good or root is None or not _SIZE.fullmatch(lines[1]):
        raise EvidenceError(
            "malformed checkpoint",
            place=Place(file),
            expected="origin, size and root hash, each on a line",
            found=text,
            code="malformed_checkpoint",
        )
    return Checkpoint(origin=lines[0], size=int(lines[1]), root=root, extensions=tuple(lines[3:-1]))
