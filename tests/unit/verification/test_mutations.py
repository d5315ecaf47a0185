"""Whatever is done to a closed run, it is named: with exit code 2 and the file that was touched."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.ledger.keys import Signer
from proctor.ledger.merkle import leaf_hash
from proctor.ledger.note import Checkpoint, parse_checkpoint, sign_note, split_note
from proctor.ledger.tiles import Tree, pack_bundle, unpack_bundle
from proctor.verification.run import verify_run

from .synthetic import SIGNER, TRUST, closed_run


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return closed_run(tmp_path_factory.mktemp("runs") / "r", cases=1, runs=2)


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the run, which must be as good as new when the test is over."""
    copy = tmp_path / "r"
    shutil.copytree(original, copy)
    assert verify_run(copy, TRUST).exit_code == 0
    yield copy


def files(run: Path) -> list[Path]:
    found = sorted(path for path in run.rglob("*") if path.is_file())
    assert len(found) == 15
    return found


def must_be_named(run: Path, what: str, *names: str) -> None:
    check = verify_run(run, TRUST)
    assert check.exit_code == 2, what
    touched = [one.file for one in check.findings]
    assert any(name in touched for name in names), f"{what}: named {touched}"


def test_every_file_every_kind_of_byte(run: Path) -> None:
    rng = random.Random(11)
    count = 0
    for path in files(run):
        good, name = path.read_bytes(), path.relative_to(run).as_posix()
        places = {0, len(good) - 1, len(good) // 2, rng.randrange(len(good)), rng.randrange(len(good))}
        spoiled = [
            (f"flip at {at}", good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1 :]) for at in places
        ]
        spoiled += [("cut", good[:-1]), ("half", good[: len(good) // 2]), ("empty", b""), ("longer", good + b"\n")]
        spoiled += [("twice", good + good), ("byte out", good[:1] + good[2:])]
        for what, data in spoiled:
            path.write_bytes(data)
            must_be_named(run, f"{name}: {what}", name)
            count += 1
        path.write_bytes(good)
    assert count > 150
    assert verify_run(run, TRUST).exit_code == 0


def test_files_that_come_go_or_point(run: Path) -> None:
    for path in files(run):
        good, name = path.read_bytes(), path.relative_to(run).as_posix()
        path.unlink()
        must_be_named(run, f"{name} deleted", name)
        elsewhere = run.parent / "elsewhere"
        elsewhere.write_bytes(good)
        path.symlink_to(elsewhere)
        must_be_named(run, f"{name} is a link", name)
        path.unlink()
        path.mkdir()
        must_be_named(run, f"{name} is a folder", name)
        path.rmdir()
        path.write_bytes(good)
        extra = path.with_name(path.name + "0")
        extra.write_bytes(good)
        must_be_named(run, f"{name} has a copy", extra.relative_to(run).as_posix())
        extra.unlink()
    (run / "ledger/workers/01").mkdir()
    must_be_named(run, "an empty worker", "ledger/workers/01")
    (run / "ledger/workers/01").rmdir()
    (run / "extra").mkdir()
    must_be_named(run, "an empty folder", "extra")


def rebuild(log: Path, change: Callable[[list[bytes]], list[bytes]], *, key: Signer | None) -> None:
    """Change a log's entries and make all its files anew, signed by ``key`` or with the old signature kept."""
    note = (log / "checkpoint").read_bytes()
    text, _ = split_note(note)
    old = parse_checkpoint(text)
    bundle = next((log / "tile/entries").rglob("*/*"))
    entries = change(unpack_bundle(bundle.read_bytes(), old.size))
    shutil.rmtree(log / "tile")
    tree = Tree()
    tree.extend([leaf_hash(entry) for entry in entries])
    for name, data in [*tree.tiles(), (f"tile/entries/000.p/{len(entries)}", pack_bundle(entries))]:
        (log / name).parent.mkdir(parents=True, exist_ok=True)
        (log / name).write_bytes(data)
    new = Checkpoint(origin=old.origin, size=len(entries), root=tree.root())
    if key is not None:
        (log / "checkpoint").write_bytes(sign_note(new.text, key.renamed(old.origin)))
    else:
        (log / "checkpoint").write_bytes(new.text.encode() + note[note.index(b"\n\n") + 1 :])


SWAP = (lambda e: [*e[:3], e[4], e[3], *e[5:]], "two entries swapped")
CHANGES = [
    SWAP,
    (lambda e: [*e[:4], e[3], *e[4:]], "an entry twice"),
    (lambda e: [*e[:3], *e[4:]], "an entry removed"),
    (lambda e: e[:-1], "the last entry removed"),
    (lambda e: [*e, e[-1]], "the last entry twice"),
    (lambda e: [e[0].replace(b'"r1"', b'"r2"').replace(b"C0/1", b"C0/3"), *e[1:]], "an entry edited"),
]


@pytest.mark.parametrize(("change", "what"), CHANGES)
@pytest.mark.parametrize("log", ["ledger", "ledger/workers/00"])
def test_entries_changed_and_hashed_again_without_the_key(
    run: Path, log: str, change: Callable[[list[bytes]], list[bytes]], what: str
) -> None:
    rebuild(run / log, change, key=None)
    must_be_named(run, what, f"{log}/checkpoint")
    assert "bad_signature" in {one.code for one in verify_run(run, TRUST).findings}


def test_another_key_of_the_same_name(run: Path) -> None:
    rebuild(run / "ledger", lambda e: e, key=Signer(SIGNER.name, b"\x05" * 32))
    must_be_named(run, "signed by a stranger", "ledger/checkpoint")


def test_even_with_the_key_a_workers_log_can_not_be_rewritten_alone(run: Path) -> None:
    rebuild(run / "ledger/workers/00", lambda e: e[:-1], key=SIGNER)
    must_be_named(run, "a worker's log rewritten by the signer", "ledger/workers/00")


def test_files_of_another_run(run: Path, tmp_path: Path) -> None:
    """Reports, logs, heads and texts of two good runs, exchanged one at a time."""
    other = closed_run(tmp_path / "others" / "r", run_id="r2", cases=2, runs=1)
    for name in ("report.json", "plan.json", "cells.jsonl", "texts/00", "traces/C0.1.jsonl", "ledger/checkpoint"):
        good = (run / name).read_bytes()
        foreign = (other / name).read_bytes()
        if foreign == good:
            continue
        (run / name).write_bytes(foreign)
        must_be_named(run, f"{name} of another run", name)
        (run / name).write_bytes(good)
    for name in ("ledger/workers/00", "ledger"):
        shutil.copytree(run / name, tmp_path / "kept")
        shutil.rmtree(run / name)
        shutil.copytree(other / name, run / name)
        check = verify_run(run, TRUST)
        assert check.exit_code == 2, name
        shutil.rmtree(run / name)
        shutil.copytree(tmp_path / "kept", run / name)
        shutil.rmtree(tmp_path / "kept")
    assert verify_run(run, TRUST).exit_code == 0
