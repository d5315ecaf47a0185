"""Published tile logs: every checkpoint of a real one, path examples, and the example run."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest

from proctor.ledger.checks import EntryRule, Trust
from proctor.ledger.keys import parse_vkey
from proctor.ledger.merkle import leaf_hash
from proctor.ledger.note import open_note, parse_checkpoint
from proctor.ledger.tiles import bundle_path, bundle_paths, tile_path, tile_paths
from proctor.ledger.trust import TrustedKey, TrustFile
from proctor.ledger.verify import verify_log

EXAMPLE = Path(__file__).parents[1] / "golden" / "example-run"


def test_every_checkpoint_of_a_real_log(conformance: Path, tmp_path: Path) -> None:
    known = json.loads((conformance / "vectors/tlog/checkpoints.json").read_text())["vectors"][0]
    source = conformance / "vectors/tlog" / known["dir"]
    trust = TrustFile(keys=(TrustedKey(role="log", vkey=known["vkey"]),))
    for size in range(16):
        folder = tmp_path / str(size)
        folder.mkdir()
        shutil.copyfile(source / f"checkpoint.{size}", folder / "checkpoint")
        for name, _ in [*tile_paths(size), *bundle_paths(size)]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, folder / name)
        check = verify_log(folder, trust, rule=EntryRule.OPAQUE)
        assert (check.findings, check.size, check.origin) == ((), size, known["origin"])
    latest = source / "checkpoint"
    assert parse_checkpoint(open_note(latest.read_bytes(), [parse_vkey(known["vkey"])]).text).size == 15


def test_path_examples(conformance: Path) -> None:
    _, sumdb, paths = json.loads((conformance / "vectors/tlog/checkpoints.json").read_text())["vectors"]
    assert tile_path(3, paths["index"]) == f"tile/3/{paths['path']}"
    assert bundle_path(paths["index"], 7) == f"tile/entries/{paths['path']}.p/7"
    for size in (70_000, 256):
        by_level: dict[str, list[int]] = {}
        for name, width in tile_paths(size):
            by_level.setdefault(name.split("/")[1], []).append(width)
        for key, value in paths[f"size_{size}"].items():
            kind, _, level = key.partition("_level")
            widths = by_level[level[0]]
            assert (widths.count(256) if kind == "full" else widths[-1]) == value, key
    assert base64.b64encode(leaf_hash(sumdb["record"].encode())).decode() == sumdb["record_hash_b64"]
    note = parse_checkpoint(sumdb["tree_note"])
    assert (note.origin, note.size, note.root) == (
        "go.sum database tree",
        123_456_789_012,
        base64.b64decode(sumdb["record_hash_b64"]),
    )


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.json"))
    return folder


def example_trust() -> TrustFile:
    keys = json.loads((EXAMPLE / "keys.json").read_text())
    return TrustFile(
        keys=(
            TrustedKey(role="log", vkey=keys["log_vkey"]),
            TrustedKey(role="witness", vkey=keys["witness_vkey"]),
        ),
        quorum=1,
    )


def test_the_example_run(example: Path) -> None:
    check = verify_log(example, example_trust(), rule=EntryRule.CANONICAL)
    assert check.findings == ()
    assert (check.size, check.trust, check.witnesses) == (278, Trust.WITNESSED, ("example.invalid/witness/w1",))


def test_every_byte_of_the_example_counts(example: Path) -> None:
    files = sorted(p for p in example.rglob("*") if p.is_file())
    assert len(files) == 6
    for path in files:
        good = path.read_bytes()
        for at in sorted({0, 1, len(good) // 3, len(good) // 2, len(good) - 2, len(good) - 1}):
            path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
            check = verify_log(example, example_trust(), rule=EntryRule.CANONICAL)
            assert check.findings, f"{path.name} byte {at}"
        path.write_bytes(good)


def test_too_few_witnesses(example: Path) -> None:
    trust = example_trust()
    check = verify_log(example, TrustFile(keys=trust.keys, quorum=2), rule=EntryRule.CANONICAL)
    assert [one.message for one in check.findings] == [
        "checkpoint: too few witnesses signed this head; expected 2 as the trust file asks; found 1"
    ]
    check = verify_log(example, TrustFile(keys=trust.keys[:1]), rule=EntryRule.CANONICAL)
    assert [one.code for one in check.findings] == ["unknown_signature"]
    check = verify_log(example, TrustFile(keys=trust.keys[1:]), rule=EntryRule.CANONICAL)
    assert [one.code for one in check.findings] == ["unknown_signature", "not_signed_by_log"]
