"""RFC 8785's documents and numbers, and that the fast encoder agrees inside the set that entries use."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from proctor.codec.canonical import canonical_bytes


def test_documents(conformance: Path) -> None:
    folder = conformance / "vectors/jcs-rfc8785"
    names = sorted(path.stem for path in (folder / "input").iterdir())
    assert len(names) == 6
    for name in names:
        found = canonical_bytes(json.loads((folder / f"input/{name}.json").read_bytes()))
        assert found == (folder / f"output/{name}.json").read_bytes().strip(), name
        assert found.hex() == (folder / f"outhex/{name}.txt").read_text().replace(" ", "").replace("\n", "")


def test_numbers(conformance: Path) -> None:
    lines = (conformance / "vectors/jcs-rfc8785/es6numbers_10000.txt").read_text().splitlines()
    assert len(lines) == 10_000
    for line in lines:
        bits, _, expected = line.partition(",")
        value = struct.unpack(">d", bytes.fromhex(bits.rjust(16, "0")))[0]
        assert canonical_bytes(value) == expected.encode(), bits
