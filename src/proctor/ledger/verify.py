"""Is this log what its key signed? Every byte of the folder is read, every fault is named with its place.

Checked: 1 the folder holds exactly the files that a log of this size has, no links; 2 the checkpoint is signed by a
believed key, valid at the time, and witnessed as the trust file asks; 3 every entry bundle; 4 every entry is canonical,
of a known kind, and has its own number; 5 the root over the entries is the signed one; 6 every tile at every level;
7 what recoveries moved aside. An open log is checked as far as it is whole. Left out: what the entries mean together,
which is the room ``verification``.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from proctor.codec.canonical import canonical_bytes
from proctor.codec.json_strict import Limits, parse_json
from proctor.errors import EvidenceError, InputError
from proctor.ledger.checks import EntryRule, Finding, LogCheck
from proctor.ledger.entries import Entry, Recovered
from proctor.ledger.envelope import decode_bundle, decode_entry
from proctor.ledger.head import Head, check_head, check_validity
from proctor.ledger.merkle import EMPTY_ROOT, HASH_BYTES
from proctor.ledger.note import CHECKPOINT_NAME, Checkpoint
from proctor.ledger.recover import TORN_NAME, signed_part_holds
from proctor.ledger.tiles import WIDTH, Tree, bundle_paths, tile_paths, unpack_bundle
from proctor.ledger.trust import TrustFile
from proctor.ledger.wal import WAL_NAME, header, read_entries, scan

__all__ = ["Visitor", "verify_log"]

Visitor = Callable[[int, int, Entry], None]
_SAMPLE = 1024
_LIMITS = Limits(max_bytes=65_535, max_depth=32)


def verify_log(
    folder: Path,
    trust: TrustFile,
    *,
    rule: EntryRule = EntryRule.TYPED,
    visit: Visitor | None = None,
    beside: frozenset[str] = frozenset(),
) -> LogCheck:
    """Check the log in ``folder``.

    ``visit`` is called with number, time (ns) and entry, for every entry that is one of ours, in order. ``beside``
    are names in the folder that belong to something else. Raises nothing for a broken log: see the findings.
    """
    check = _Verification(folder, trust, rule, visit, beside)
    return check.open_log() if (folder / WAL_NAME).is_file() else check.closed_log()


class _Verification:
    """One pass over one log."""

    def __init__(
        self, folder: Path, trust: TrustFile, rule: EntryRule, visit: Visitor | None, beside: frozenset[str]
    ) -> None:
        self.folder = folder
        self.trust = trust
        self.rule = rule
        self.visit = visit
        self.beside = beside
        self.findings: list[Finding] = []
        self.plain: set[str] = set()
        self.torn: dict[str, Recovered] = {}
        self.last_ns: int | None = None

    def note(self, file: str, code: str, problem: str, **facts: Any) -> None:
        self.findings.append(Finding.at(file, code, problem, **facts))

    def closed_log(self) -> LogCheck:
        head = check_head(self.folder, self.trust, self.findings)
        if head.checkpoint is None:
            return self._result(head, 0, EMPTY_ROOT)
        size = head.checkpoint.size
        known = {CHECKPOINT_NAME, *(p for p, _ in bundle_paths(size)), *(p for p, _ in tile_paths(size))}
        present = self._files()
        for name in sorted(known - present):
            self.note(name, "missing_file", "the file is missing", expected=f"the files of a log of {size} entries")
        tree = self._bundles(size)
        self._torn_files(present, known)
        for name in sorted(present - known):
            self.note(name, "extra_file", "the file does not belong to this log", expected=f"a log of {size} entries")
        if tree is None:
            return self._result(head, size, head.checkpoint.root)
        root = tree.root()
        if root != head.checkpoint.root:
            self._other_entries(tree, head.checkpoint)
        self._tiles(tree)
        self._times(head)
        return self._result(head, size, root)

    def _files(self, *, is_open: bool = False) -> set[str]:
        """Every name in the folder that is no folder; links, special files and empty folders are findings.

        In an open log, empty folders are what a broken-off close left.
        """
        names: set[str] = set()
        folders = [""]
        while folders:
            base = folders.pop()
            with os.scandir(self.folder / base) as entries:
                here = [entry for entry in entries if base or entry.name not in self.beside]
            if not here and base and not is_open:
                self.note(base[:-1], "extra_file", "an empty folder, which no log has")
            for entry in here:
                name = base + entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name + "/")
                    continue
                names.add(name)
                if entry.is_file(follow_symlinks=False):
                    self.plain.add(name)
                else:
                    self.note(name, "special_file", "a link or special file", expected="a plain file")
        return names

    def _read(self, name: str) -> bytes | None:
        """A file's bytes; None where it is missing or a link (both reported with the listing)."""
        if name not in self.plain:
            return None
        with open(f"{self.folder}/{name}", "rb", buffering=0) as stream:  # noqa: PTH123 - ten times a log's cost in paths
            return stream.read()

    def _bundles(self, size: int) -> Tree | None:
        """The tree over all entries; None where some can't be read at all."""
        tree: Tree | None = Tree()
        seq = 0
        for name, width in bundle_paths(size):
            data = self._read(name)
            try:
                entries = None if data is None else unpack_bundle(data, width)
            except EvidenceError as error:
                self.findings.append(Finding.of(error, name))
                entries = None
            if entries is None:
                tree = None
                seq += width
                continue
            hashes = self._entries(entries, seq, name)
            if tree is not None:
                tree.extend(hashes)
            seq += width
        return tree

    def _entries(self, entries: list[bytes], seq: int, file: str) -> list[bytes]:
        """Check entries from number ``seq`` on and give their leaf hashes."""
        hashes = [sha256(b"\0" + data).digest() for data in entries]
        if self.rule is EntryRule.TYPED:
            envelopes = decode_bundle(entries, seq)
            if envelopes is None:
                envelopes = self._one_by_one(entries, seq, file)
            self._take(envelopes)
        if self.rule is not EntryRule.OPAQUE:
            step = 1 if self.rule is EntryRule.CANONICAL else _SAMPLE
            for at in range(-seq % step, len(entries), step):
                self._exact(entries[at], seq + at, file)
        return hashes

    def _one_by_one(self, entries: list[bytes], seq: int, file: str) -> list[Any]:
        """The envelopes of the good entries; the others are findings."""
        envelopes = []
        for number, data in enumerate(entries, seq):
            try:
                envelopes.append(decode_entry(data, number))
            except ValueError as error:
                self._bad_entry(data, number, file, error)
        return envelopes

    def _bad_entry(self, data: bytes, seq: int, file: str, error: ValueError) -> None:
        self.note(
            file,
            "bad_entry",
            f"the entry is not one of this log: {error}",
            field=f"entry {seq}",
            found=data[:60].decode("utf-8", "replace"),
        )

    def _take(self, envelopes: list[Any]) -> None:
        """What typed entries mean to this check and to the caller."""
        if self.visit is not None:
            for envelope in envelopes:
                self.visit(envelope.seq, int(envelope.tNs), envelope.data)
        for envelope in envelopes:
            if type(envelope.data) is Recovered and envelope.data.bytes:
                self.torn[f"{TORN_NAME}/{envelope.seq}"] = envelope.data
        if envelopes:
            self.last_ns = int(envelopes[-1].tNs)

    def _exact(self, data: bytes, seq: int, file: str) -> None:
        """The slow check by RFC 8785 itself: of a sample, and of entries that are not ours."""
        try:
            value = parse_json(data, limits=_LIMITS)
            if canonical_bytes(value) != data:
                raise ValueError("its bytes are not the canonical form of what they say")
            if not isinstance(value, dict) or value.get("seq", seq) != seq:
                raise ValueError("it is no object, or says it has another number")
        except InputError as error:
            self._bad_entry(data, seq, file, ValueError(error.problem))
        except ValueError as error:
            self._bad_entry(data, seq, file, error)

    def _tiles(self, tree: Tree) -> None:
        for name, expected in tree.tiles():
            found = self._read(name)
            if found is None or found == expected:
                continue
            slot = next(
                (i for i in range(0, len(expected), HASH_BYTES) if found[i : i + 32] != expected[i : i + 32]), -1
            )
            self.note(
                name,
                "tile_differs",
                "the tile is not that of the entries",
                field=None if slot < 0 else f"hash {slot // HASH_BYTES}",
                expected=f"{len(expected)} bytes" if slot < 0 else expected[slot : slot + HASH_BYTES].hex(),
                found=f"{len(found)} bytes" if slot < 0 else found[slot : slot + HASH_BYTES].hex(),
            )

    def _other_entries(self, tree: Tree, signed: Checkpoint) -> None:
        """The entries are not those that were signed: which, if the tiles still lead to the signed root."""
        self.note(
            CHECKPOINT_NAME,
            "root_differs",
            "the entries are not those that were signed",
            expected=f"root {signed.root.hex()}",
            found=tree.root().hex(),
        )
        logged = b"".join(self._read(name) or b"" for name, _ in tile_paths(signed.size) if name.startswith("tile/0/"))
        hashes = [logged[at : at + HASH_BYTES] for at in range(0, len(logged), HASH_BYTES)]
        by_tiles = Tree()
        by_tiles.extend(hashes)
        if len(hashes) != signed.size or by_tiles.root() != signed.root:
            return
        names = [name for name, _ in bundle_paths(signed.size)]
        for seq, leaf in enumerate(hashes):
            if leaf != tree.leaf(seq):
                self.note(
                    names[seq // WIDTH], "entry_changed", "this is not the entry that was logged", field=f"entry {seq}"
                )

    def _torn_files(self, present: set[str], known: set[str]) -> None:
        """What recoveries moved aside, against the entries that say so."""
        for name, entry in self.torn.items():
            known.add(name)
            data = self._read(name)
            if data is None:
                self.note(name, "missing_file", "what a recovery moved aside is missing")
            elif len(data) != entry.bytes or sha256(data).hexdigest() != entry.sha256:
                self.note(
                    name, "torn_differs", "what a recovery moved aside was changed", expected=f"sha256 {entry.sha256}"
                )

    def _times(self, head: Head) -> None:
        """The head was signed after the last entry: that is when its key must have been valid."""
        if self.last_ns is not None:
            check_validity(head, self.trust, self.last_ns, self.findings)

    def _result(self, head: Head, size: int, root: bytes, **facts: Any) -> LogCheck:
        return LogCheck(
            findings=tuple(self.findings),
            origin=facts.pop("origin", None) or (head.checkpoint.origin if head.checkpoint else None),
            size=size,
            root=root,
            signed_size=head.checkpoint.size if head.checkpoint else 0,
            trust=head.trust,
            witnesses=head.witnesses,
            **facts,
        )

    def open_log(self) -> LogCheck:
        """The whole part of an open log, and the last checkpoint over it."""
        data = (self.folder / WAL_NAME).read_bytes()
        found = scan(data)
        if found.after or (found.origin is None and not header("").startswith(data[:14])):
            self.note(
                WAL_NAME,
                "damaged_middle",
                "the log is damaged in the middle",
                field=f"byte {found.end}, after entry {len(found.hashes) - 1}",
                found=f"{found.after} whole entries behind the damage",
            )
        present = self._files(is_open=True)
        head = Head(checkpoint=None)
        if CHECKPOINT_NAME in present:
            head = check_head(self.folder, self.trust, self.findings)
            self._signed_part(head, found.hashes, found.origin)
        with (self.folder / WAL_NAME).open("rb") as stream:
            entries = itertools.islice(read_entries(stream), len(found.hashes))
            for seq in range(0, len(found.hashes), WIDTH):
                self._entries(list(itertools.islice(entries, WIDTH)), seq, WAL_NAME)
        tree = Tree()
        tree.extend(found.hashes)
        self._leftovers(present, tree)
        self._times(head)
        torn = 0 if found.after else len(data) - found.end
        return self._result(head, tree.size, tree.root(), is_open=True, torn_bytes=torn, origin=found.origin)

    def _signed_part(self, head: Head, hashes: list[bytes], origin: str | None) -> None:
        if head.checkpoint is None:
            return
        if origin is not None and origin != head.checkpoint.origin:
            self.note(
                CHECKPOINT_NAME,
                "wrong_origin",
                "the head is another log's",
                expected=origin,
                found=head.checkpoint.origin,
            )
        try:
            signed_part_holds(head.checkpoint, hashes, Path(WAL_NAME))
        except EvidenceError as error:
            self.findings.append(Finding.of(error, WAL_NAME))

    def _leftovers(self, present: set[str], tree: Tree) -> None:
        """What a crash may leave beside an open log: a file being replaced, torn tails, tiles of a broken-off close."""
        known = {WAL_NAME, CHECKPOINT_NAME, f"{CHECKPOINT_NAME}.new"}
        self._torn_files(present, known)
        made = dict(tree.tiles())
        bundles = dict(bundle_paths(tree.size))
        for name in sorted(present - known):
            number = name.removeprefix(f"{TORN_NAME}/").removesuffix(".new")
            is_torn = name.startswith(f"{TORN_NAME}/") and number.isdecimal() and int(number) <= tree.size
            is_tile = name in made and made[name].startswith(self._read(name) or b"")
            if not (is_torn or is_tile or name in bundles):
                self.note(name, "extra_file", "the file does not belong to an open log")
