"""Any list of entries: every prefix proves itself, every edit is seen, and the fast bytes are the canonical ones."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.codec.canonical import canonical_bytes
from proctor.ledger.entries import ENTRY_KINDS, AgentUse, CycleStart, Decision, Entry, FaultNote, FileDigest
from proctor.ledger.envelope import decode_bundle, decode_entry, encode_leaf
from proctor.ledger.merkle import (
    check_consistency,
    check_inclusion,
    fold,
    leaf_hash,
    make_consistency_proof,
    make_inclusion_proof,
)
from proctor.ledger.texts import read_frames
from proctor.ledger.tiles import Tree, pack_bundle, unpack_bundle
from proctor.ledger.wal import header, pack_length, scan

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INTS = st.integers(min_value=0, max_value=2**53 - 1)
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: INTS,
    bool: st.booleans(),
    str | None: st.none() | TEXT,
    int | None: st.none() | st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1),
    Decision: st.sampled_from(list(Decision)),
    tuple[str, ...]: st.lists(TEXT, max_size=3).map(tuple),
    FaultNote | None: st.none() | st.builds(FaultNote, effect=st.booleans(), fault=TEXT, phase=TEXT),
    AgentUse | None: st.none()
    | st.builds(
        AgentUse,
        alive=INTS,
        cpuMs=st.none() | INTS,
        maxRssBytes=st.none() | INTS,
        survivors=INTS,
        wallMs=INTS,
    ),
    tuple[FileDigest, ...]: st.lists(st.builds(FileDigest, bytes=INTS, path=TEXT, sha256=TEXT), max_size=3).map(tuple),
}


def entries() -> st.SearchStrategy[Entry]:
    """An entry of any kind with any values its types allow."""
    kinds = []
    for cls in ENTRY_KINDS.values():
        hints = msgspec.structs.fields(cls)
        kinds.append(st.builds(cls, **{field.name: VALUES[field.type] for field in hints}))
    return st.one_of(kinds)


def naive_root(hashes: list[bytes]) -> bytes:
    """RFC 9162 section 2.1.1, word for word."""
    n = len(hashes)
    if n == 0:
        return hashlib.sha256(b"").digest()
    if n == 1:
        return hashes[0]
    k = 1
    while k * 2 < n:
        k *= 2
    return hashlib.sha256(b"\x01" + naive_root(hashes[:k]) + naive_root(hashes[k:])).digest()


@given(entry=entries(), seq=INTS, t_ns=st.integers(min_value=10**18, max_value=10**19 - 1))
def test_the_fast_encoder_makes_canonical_bytes_of_every_kind(entry: Entry, seq: int, t_ns: int) -> None:
    data = encode_leaf(entry, seq, str(t_ns))[1:]
    value = {
        "actor": entry.actor,
        "data": msgspec.to_builtins(entry),
        "kind": entry.kind,
        "seq": seq,
        "tNs": str(t_ns),
        "v": 1,
    }
    assert data == canonical_bytes(value)
    assert decode_entry(data, seq).data == entry
    assert [one.data for one in decode_bundle([data], seq) or ()] == [entry]


@given(entry=entries(), at=st.integers(min_value=0), flip=st.integers(min_value=1, max_value=255))
def test_no_other_bytes_say_the_same(entry: Entry, at: int, flip: int) -> None:
    """A changed byte makes another entry or none: never the same one."""
    data = encode_leaf(entry, 5, "1" * 19)[1:]
    at %= len(data)
    changed = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    try:
        found = decode_entry(changed, 5)
    except ValueError:
        return
    assert (found.data, found.tNs) != (entry, "1" * 19)
    assert leaf_hash(changed) != leaf_hash(data)


@pytest.mark.parametrize("cls", list(ENTRY_KINDS.values()))
def test_fields_are_declared_in_canonical_order(cls: type[Entry]) -> None:
    assert list(cls.__struct_fields__) == sorted(cls.__struct_fields__)
    assert all(name.isascii() for name in cls.__struct_fields__)


@given(size=st.integers(min_value=0, max_value=600), data=st.data())
@settings(max_examples=60)
def test_trees(size: int, data: st.DataObject) -> None:
    hashes = [leaf_hash(b"%d" % n) for n in range(size)]
    cut = data.draw(st.integers(min_value=0, max_value=size))
    tree = Tree()
    tree.extend(hashes[:cut])
    early = tree.root()
    for leaf in hashes[cut:]:
        tree.add(leaf)
    assert tree.root() == fold(hashes) == naive_root(hashes)
    assert early == naive_root(hashes[:cut])
    if not size:
        return
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    proof = make_inclusion_proof(index, size, tree.subtree)
    assert check_inclusion(hashes[index], index, size, proof, tree.root())
    if cut:
        path = make_consistency_proof(cut, size, tree.subtree)
        assert check_consistency(cut, size, path, early, tree.root())
        if cut < size:
            assert not check_consistency(cut, size, path, leaf_hash(b"x"), tree.root())
    for spoiled in (proof[:-1], [*proof, hashes[0]], [leaf_hash(b"x"), *proof[1:]] if proof else [hashes[0]]):
        if spoiled != proof:
            assert not check_inclusion(hashes[index], index, size, spoiled, tree.root())


@given(st.lists(st.binary(max_size=40), max_size=30))
def test_bundles(items: list[bytes]) -> None:
    assert unpack_bundle(pack_bundle(items), len(items)) == items


@given(items=st.lists(entries(), max_size=6), cut=st.integers(min_value=0), edit=st.integers(min_value=0))
def test_open_logs(items: list[Entry], cut: int, edit: int) -> None:
    """Any prefix of the file holds exactly its whole entries; a changed byte never passes unseen."""
    leaves = [encode_leaf(entry, seq, "1" * 19) for seq, entry in enumerate(items)]
    hashes = [hashlib.sha256(leaf).digest() for leaf in leaves]
    records = [pack_length(len(leaf)) + leaf + h[:8] for leaf, h in zip(leaves, hashes, strict=True)]
    whole = header("o/x") + b"".join(records)
    cut %= len(whole) + 1
    found = scan(whole[:cut])
    assert found.after == 0
    assert found.hashes == hashes[: len(found.hashes)]
    assert whole[: found.end] == whole[:cut][: found.end]
    edit %= len(whole)
    changed = whole[:edit] + bytes([whole[edit] ^ 1]) + whole[edit + 1 :]
    seen = scan(changed)
    assert seen.hashes != hashes or seen.origin != "o/x" or seen.end != len(whole)


@given(st.lists(st.binary(max_size=60), max_size=8), st.integers(min_value=0))
def test_texts(items: list[bytes], cut: int) -> None:
    salt = b"s" * 16
    data = b"".join(pack_length(len(item)) + salt + item for item in items)
    frames = list(read_frames(data))
    assert [data[f.start : f.end] for f in frames] == items
    assert [f.ref for f in frames] == ["sha256:" + hashlib.sha256(salt + item).hexdigest() for item in items]
    cut %= len(data) + 1
    assert list(read_frames(data[:cut])) == [f for f in frames if f.end <= cut]


def test_a_large_log_has_a_third_level() -> None:
    tree = Tree()
    one = leaf_hash(b"x")
    tree.extend([one] * 65_537)
    names = [name for name, _ in tree.tiles()]
    assert names[-4:] == ["tile/0/255", "tile/0/256.p/1", "tile/1/000", "tile/2/000.p/1"]
    assert tree.root() == naive_root([one] * 65_537)


def test_an_entry_of_exactly_the_limit() -> None:
    empty = encode_leaf(CycleStart(attempt="", cycle=1), 0, "1" * 19)
    longest = CycleStart(attempt="x" * (65_535 - (len(empty) - 1)), cycle=1)
    data = encode_leaf(longest, 0, "1" * 19)[1:]
    assert len(data) == 65_535
    assert unpack_bundle(pack_bundle([data]), 1) == [data]
