"""The codec's promises over generated values."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proctor.codec.canonical import canonical_bytes
from proctor.codec.json_strict import JsonFault, parse_json
from proctor.codec.jsonl import iter_jsonl
from proctor.kinds import INTEGER_LIMIT

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E))
RESTRICTED = st.recursive(
    st.none() | st.booleans() | st.integers(-INTEGER_LIMIT, INTEGER_LIMIT) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(RESTRICTED)
def test_canonical_bytes_are_read_back_the_same(value: Any) -> None:
    assert parse_json(canonical_bytes(value)) == value


@given(ANY, st.booleans())
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=40) | st.text(alphabet='[]{}",:0123456789.eE+-tfnNaI \n\\u', max_size=40).map(str.encode))
def test_what_is_read_the_standard_reader_reads_alike(data: bytes) -> None:
    try:
        value = parse_json(data)
    except JsonFault as fault:
        assert fault.place is not None and fault.place.line is not None
        assert 1 <= fault.place.line <= data.count(b"\n") + 1
        return
    assert json.loads(data) == value


@given(st.lists(st.dictionaries(TEXT, TEXT, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_jsonl_round_trip(rows: list[dict[str, str]], end: str, has_last_end: bool) -> None:
    text = end.join(json.dumps(row, ensure_ascii=False) for row in rows) + (end if rows and has_last_end else "")
    assert list(iter_jsonl(io.BytesIO(text.encode()))) == list(enumerate(rows, 1))
