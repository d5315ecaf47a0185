"""Published Merkle vectors: roots, proofs that must verify, and spoiled ones that must not."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from proctor.ledger.merkle import (
    check_consistency,
    check_inclusion,
    fold,
    leaf_hash,
    make_consistency_proof,
    make_inclusion_proof,
)
from proctor.ledger.tiles import Tree


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def proof(row: dict[str, Any]) -> list[bytes]:
    return [base64.b64decode(one) for one in row["proof"] or []]


def test_roots_and_nodes(conformance: Path) -> None:
    known = json.loads((conformance / "vectors/merkle-rfc6962/roots.json").read_text())
    leaves = [bytes.fromhex(one) for one in known["leaf_inputs_hex"]]
    hashes = [leaf_hash(leaf) for leaf in leaves]
    assert [one.hex() for one in hashes] == known["node_hashes_by_level_hex"][0]
    for size, root in enumerate(known["root_by_size_hex"]):
        tree = Tree()
        tree.extend(hashes[:size])
        assert tree.root().hex() == fold(hashes[:size]).hex() == root


def test_inclusion(conformance: Path) -> None:
    cases = rows(conformance / "vectors/merkle-rfc6962/inclusion.jsonl")
    assert len(cases) == 98
    for row in cases:
        holds = check_inclusion(
            base64.b64decode(row["leafHash"]),
            row["leafIdx"],
            row["treeSize"],
            proof(row),
            base64.b64decode(row["root"]),
        )
        assert holds is not row["wantErr"], row["case"]


def test_consistency(conformance: Path) -> None:
    cases = rows(conformance / "vectors/merkle-rfc6962/consistency.jsonl")
    assert len(cases) == 98
    for row in cases:
        holds = check_consistency(
            row["size1"],
            row["size2"],
            proof(row),
            base64.b64decode(row["root1"]),
            base64.b64decode(row["root2"]),
        )
        assert holds is not row["wantErr"], row["case"]


def test_proofs_of_our_own_tree_verify() -> None:
    tree = Tree()
    roots = [tree.root()]
    for n in range(700):
        tree.add(leaf_hash(b"%d" % n))
        roots.append(tree.root())
    for index in (0, 1, 255, 256, 511, 512, 699):
        path = make_inclusion_proof(index, tree.size, tree.subtree)
        assert check_inclusion(leaf_hash(b"%d" % index), index, tree.size, path, tree.root())
        assert not check_inclusion(leaf_hash(b"no"), index, tree.size, path, tree.root())
    for size in (1, 2, 3, 255, 256, 257, 511, 512, 513, 699, 700):
        path = make_consistency_proof(size, tree.size, tree.subtree)
        assert check_consistency(size, tree.size, path, roots[size], tree.root())
        assert not check_consistency(size, tree.size, path, roots[size - 1], tree.root())
