"""DSSE envelopes (secure-systems-lab/dsse 1.0.2): a signature over a payload's type and its exact bytes.

The envelope's own bytes must be canonical JSON, so that not one of them can change unseen, and the key's name in it
must be that of a key that is believed: it picks the key, it proves nothing. Left out: what the payload says.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

import msgspec

from proctor.codec.canonical import canonical_bytes
from proctor.errors import EvidenceError, Place
from proctor.ledger.keys import PublicKey, Signer, decode_base64

__all__ = ["PAYLOAD_TYPE", "open_envelope", "pre_authentication", "sign_envelope"]

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"


class _Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    keyid: str
    sig: str


class _Envelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    payload: str
    payload_type: str
    signatures: tuple[_Signature, ...]


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed (PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_envelope(payload: bytes, signer: Signer, *, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """An envelope with one signature, as canonical JSON."""
    signature = signer.sign(pre_authentication(payload_type, payload))
    return canonical_bytes(
        {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": payload_type,
            "signatures": [{"keyid": signer.public.vkey, "sig": base64.b64encode(signature).decode()}],
        }
    )


def open_envelope(
    data: bytes, keys: Sequence[PublicKey], *, payload_type: str = PAYLOAD_TYPE, file: str | None = None
) -> tuple[bytes, PublicKey]:
    """The payload, and the believed key that signed it.

    Raises ``EvidenceError``: ``malformed_envelope``, ``unknown_key`` or ``bad_signature``.
    """
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed(f"not an envelope: {error}", file) from None
    payload = decode_base64(envelope.payload)
    if payload is None or canonical_bytes(msgspec.to_builtins(envelope)) != data:
        raise _malformed("the envelope's bytes are not canonical", file)
    if envelope.payload_type != payload_type or len(envelope.signatures) != 1:
        raise _malformed(f"expected one signature over {payload_type}", file)
    signature = envelope.signatures[0]
    key = next((one for one in keys if one.vkey == signature.keyid), None)
    if key is None:
        raise EvidenceError(
            "the seal names a key that is not in the trust file",
            place=Place(file, field="signatures[0].keyid"),
            expected=", ".join(one.vkey for one in keys) or "a believed key",
            found=signature.keyid,
            code="unknown_key",
        )
    raw = decode_base64(signature.sig)
    if raw is None or not key.verify(pre_authentication(payload_type, payload), raw):
        raise EvidenceError(
            "the seal's signature does not verify",
            place=Place(file, field="signatures[0].sig"),
            expected=f"a signature by {key.vkey}",
            code="bad_signature",
        )
    return payload, key


def _malformed(problem: str, file: str | None) -> EvidenceError:
    return EvidenceError(problem, place=Place(file), expected="a DSSE envelope", code="malformed_envelope")
