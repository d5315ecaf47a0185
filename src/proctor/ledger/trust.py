"""Which keys are believed: ``trust.json``, which people write or ``proctor keys trust`` does, never a run.

``{"keys": [{"role": "log" | "witness", "vkey": "…", "validFrom": time or null, "validUntil": time or null}], "quorum":
n, "v": 1}``. A log's key is believed for origins that are its name or lie under it, and for entries made while it was
valid. ``quorum`` is how many different witnesses must have signed a head.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from proctor.codec.json_strict import parse_json
from proctor.errors import InputError, Place
from proctor.ledger.files import DISK, FileOps, write_atomically
from proctor.ledger.keys import KeyKind, PublicKey, parse_vkey

__all__ = ["TRUST_NAME", "TrustFile", "TrustedKey", "load_trust", "save_trust"]

TRUST_NAME: Final = "trust.json"

_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class TrustedKey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """One believed key, for entries made from ``valid_from`` until before ``valid_until`` (null: no bound)."""

    role: Literal["log", "witness"]
    vkey: str
    valid_from: _Time | None = None
    valid_until: _Time | None = None

    @property
    def key(self) -> PublicKey:
        """The key itself."""
        return parse_vkey(self.vkey)

    def holds_at(self, t_ns: int) -> bool:
        """Whether the key was valid at that time."""
        at = datetime.fromtimestamp(t_ns / 1e9, UTC)
        return (self.valid_from is None or self.valid_from <= at) and (
            self.valid_until is None or at < self.valid_until
        )


class TrustFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All believed keys."""

    keys: tuple[TrustedKey, ...] = ()
    quorum: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    v: Literal[1] = 1

    def log_keys(self, origin: str) -> list[TrustedKey]:
        """The keys that are believed for a log with this origin."""
        return [one for one in self.keys if one.role == "log" and one.key.signs_for(origin)]

    def witness_keys(self) -> list[PublicKey]:
        """The witnesses' keys."""
        return [one.key for one in self.keys if one.role == "witness"]

    def with_key(self, key: TrustedKey) -> TrustFile:
        """With one more key; as it is where the key is there already."""
        if any((one.role, one.vkey) == (key.role, key.vkey) for one in self.keys):
            return self
        return msgspec.structs.replace(self, keys=(*self.keys, key))

    def with_end(self, vkey: str, at: datetime) -> TrustFile:
        """With a key's validity ended at a time."""
        keys = tuple(
            msgspec.structs.replace(one, valid_until=at) if one.vkey == vkey and one.valid_until is None else one
            for one in self.keys
        )
        return msgspec.structs.replace(self, keys=keys)


def load_trust(path: Path) -> TrustFile:
    """Read a trust file strictly. Raises ``InputError`` with the place of the fault."""
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"can't read the trust file: {error.strerror}",
            place=Place(name),
            expected="keys that you believe, got from whoever signed",
            fix="`proctor keys trust VKEY --file FILE` writes one",
            code="no_trust_file",
        ) from error
    value = parse_json(data, file=name)
    try:
        trust = msgspec.convert(value, TrustFile)
    except msgspec.ValidationError as error:
        raise InputError("not a trust file", place=Place(name), found=str(error), code="bad_trust_file") from error
    for number, one in enumerate(trust.keys):
        place = Place(name, field=f"keys[{number}].vkey")
        try:
            kind = parse_vkey(one.vkey).kind
        except InputError as error:
            raise InputError(error.problem, place=place, expected=error.expected, found=one.vkey) from None
        if (kind is KeyKind.COSIGNATURE) != (one.role == "witness"):
            raise InputError(
                "the key is of another kind than its role needs",
                place=place,
                expected="an Ed25519 key (kind 1) for a log, a cosignature key (kind 4) for a witness",
                found=f"{one.role} with a key of kind {int(kind)}",
                code="bad_trust_file",
            )
    return trust


def save_trust(path: Path, trust: TrustFile, *, ops: FileOps = DISK) -> None:
    """Write a trust file, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(ops, path, msgspec.json.format(msgspec.json.encode(trust), indent=1) + b"\n")
