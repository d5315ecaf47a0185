"""Entries as bytes and back: ``{actor, data, kind, seq, tNs, v}`` in canonical form. Pure.

Reading is strict: every kind has its own typed envelope, and the bytes must be exactly what the fast encoder
makes of the values read, which (over the values that entries hold) is the canonical form of RFC 8785.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, NamedTuple, Union

import msgspec

from proctor.errors import EvidenceError, Place
from proctor.kinds import INTEGER_LIMIT
from proctor.ledger.entries import ENTRY_KINDS, ENTRY_VERSION, Entry

__all__ = ["LEAF_PREFIX", "Record", "decode_bundle", "decode_entry", "encode_leaf", "encode_leaves", "read_entry"]

LEAF_PREFIX: Final = b"\x00"

_encode = msgspec.json.Encoder().encode


class _Envelope(msgspec.Struct, gc=False):
    actor: str
    data: Entry
    kind: str
    seq: int
    tNs: str  # noqa: N815
    v: int


def encode_leaf(entry: Entry, seq: int, t_ns: str) -> bytes:
    """0x00 and the entry's canonical bytes: what a leaf hash is taken over."""
    return LEAF_PREFIX + _encode(_Envelope(entry.actor, entry, entry.kind, seq, t_ns, ENTRY_VERSION))


def encode_leaves(entries: Iterable[Entry], seq: int, t_ns: str) -> list[bytes]:
    """``encode_leaf`` for entries of one instant, from number ``seq`` on."""
    encode = _encode
    return [
        LEAF_PREFIX + encode(_Envelope(entry.actor, entry, entry.kind, number, t_ns, ENTRY_VERSION))
        for number, entry in enumerate(entries, seq)
    ]


class Record(NamedTuple):
    """An entry with its place in the log and its time (nanoseconds since the epoch)."""

    seq: int
    t_ns: int
    entry: Entry


def _tagged(cls: type[Entry]) -> type[msgspec.Struct]:
    """The envelope of one kind, found by its ``kind``."""
    return msgspec.defstruct(
        f"_{cls.__name__}Envelope",
        [("actor", Literal[cls.actor]), ("data", cls), ("seq", int), ("tNs", str), ("v", Literal[1])],
        tag_field="kind",
        tag=cls.kind,
        gc=False,
        forbid_unknown_fields=True,
    )


_Any: Any = Union[tuple(_tagged(cls) for cls in ENTRY_KINDS.values())]  # noqa: UP007
_decode_one: Callable[[bytes], Any] = msgspec.json.Decoder(_Any, strict=True).decode
_decode_list: Callable[[bytes], list[Any]] = msgspec.json.Decoder(list[_Any], strict=True).decode
_NS_DIGITS: Final = 19


def _plain(envelope: Any) -> _Envelope:
    data = envelope.data
    return _Envelope(data.actor, data, data.kind, envelope.seq, envelope.tNs, ENTRY_VERSION)


def decode_entry(data: bytes, seq: int) -> Any:
    """The typed envelope of entry number ``seq``: attributes ``data`` (an ``Entry``), ``seq``, ``tNs``.

    Raises ``ValueError`` saying what is wrong with it.
    """
    envelope = _decode_one(data)
    if _encode(_plain(envelope)) != data:
        raise ValueError("its bytes are not the canonical form of what they say")
    if envelope.seq != seq:
        raise ValueError(f"it says it is number {envelope.seq}")
    t_ns = envelope.tNs
    if not (t_ns.isascii() and t_ns.isdecimal()) or (t_ns[0] == "0" and t_ns != "0") or len(t_ns) > _NS_DIGITS:
        raise ValueError(f"tNs is not a time in nanoseconds: {t_ns[:24]!r}")
    return envelope


def decode_bundle(entries: list[bytes], seq: int) -> list[Any] | None:
    """``decode_entry`` for neighbours from number ``seq`` on, at once; None where any of them may be at fault."""
    joined = b",".join(entries)
    joined = b"[" + joined + b"]"
    try:
        envelopes = _decode_list(joined)
    except ValueError:
        return None
    times = [envelope.tNs for envelope in envelopes]
    digits = "".join(times)
    if (
        [envelope.seq for envelope in envelopes] == list(range(seq, seq + len(entries)))
        and digits.isascii()
        and digits.isdecimal()
        and set(map(len, times)) == {_NS_DIGITS}
        and "0" not in digits[::_NS_DIGITS]
        and _encode(list(map(_plain, envelopes))) == joined
    ):
        return envelopes
    return None


def read_entry(data: bytes, seq: int, *, file: str | None = None) -> Record:
    """Entry number ``seq``, checked. Raises ``EvidenceError``."""
    try:
        envelope = decode_entry(data, seq)
    except ValueError as error:
        raise EvidenceError(
            f"the entry is not one of this log: {error}",
            place=Place(file, field=f"entry {seq}"),
            expected=f"a canonical entry of version {ENTRY_VERSION}, integers within ±{INTEGER_LIMIT}",
            found=data[:60].decode("utf-8", "replace"),
            code="bad_entry",
        ) from None
    return Record(seq=seq, t_ns=int(envelope.tNs), entry=envelope.data)
