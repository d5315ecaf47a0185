"""The fast scorer gives what the plain one gives, on tables made to be awkward."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_final_state import score_plain
from proctor.errors import InputError
from proctor.score import _csv_table
from proctor.score.final_state_files import score_final_state

SEED = b"a fixed key for tests".ljust(32)

IDS = st.sampled_from(["A", "B", "C", "D", "", "007", "7", "NULL", "A ", " A", "a", "é", "e\u0301", 'q"q', "x,y"])
TEXTS = st.one_of(
    st.sampled_from(["", " ", "NULL", "null", "None", "0", "00", "1.0", "1", "a\nb", "a\r\nb", "\r", '"', '""']),
    st.sampled_from(['5" disk', "x,y", "\u2028", "李雷", "tail ", "'", "\\", "\ufeff", "\U0001f600" * 5]),
    st.text(alphabet='ab," \n\ré李\u2028', max_size=12),
    st.text(alphabet="abcdefg é", min_size=10, max_size=300),
)
HEADERS = st.permutations(["file_id", "x", "y", "z"]).flatmap(
    lambda names: st.integers(1, 4).map(lambda n: [*{**dict.fromkeys(names[:n]), "file_id": None}])
)


def rows_for(width: int) -> st.SearchStrategy[list[list[str]]]:
    """Rows of about the header's width: some short, some long, some empty."""
    row = st.integers(max(0, width - 1), width + 1).flatmap(
        lambda n: st.lists(st.one_of(IDS, TEXTS), min_size=n, max_size=n)
    )
    full = st.lists(st.one_of(IDS, TEXTS), min_size=width, max_size=width)
    return st.lists(st.one_of(full, full, row), max_size=8)


@st.composite
def tables(draw: Any) -> tuple[list[list[str]], str, str]:
    """A header, rows, a line end and a way to quote."""
    header = draw(HEADERS)
    return (
        [header, *draw(rows_for(len(header)))],
        draw(st.sampled_from(["\n", "\r\n", "\r"])),
        draw(st.sampled_from(["minimal", "all", "by hand"])),
    )


def render(table: list[list[str]], line_end: str, quoting: str, *, bom: bool, last: bool, blank: bool) -> bytes:
    """CSV bytes."""
    out = io.StringIO(newline="")
    if quoting == "by hand":
        for row in table:
            cells = ['"' + c.replace('"', '""') + '"' if c[:1] == '"' or set(c) & set(",\r\n") else c for c in row]
            out.write(",".join(cells) + line_end)
    else:
        kind = csv.QUOTE_ALL if quoting == "all" else csv.QUOTE_MINIMAL
        csv.writer(out, quoting=kind, lineterminator=line_end).writerows(table)
    text = out.getvalue()
    if blank:
        head, end, rest = text.partition(line_end)
        text = head + end + line_end + rest + line_end
    if not last:
        text = text.removesuffix(line_end)
    return (b"\xef\xbb\xbf" if bom else b"") + text.encode()


@st.composite
def files(draw: Any) -> tuple[bytes, bytes]:
    """Two files: unrelated, or the second made from the first."""
    table, line_end, quoting = draw(tables())
    style = {name: draw(st.booleans()) for name in ("bom", "last", "blank")}
    first = render(table, line_end, quoting, **style)
    kind = draw(st.sampled_from(["same", "reordered", "edited", "other"]))
    if kind == "other":
        table, line_end, quoting = draw(tables())
    elif kind == "reordered":
        table = [table[0], *draw(st.permutations(table[1:]))]
    elif kind == "edited" and len(table) > 1:
        table = [list(row) for row in table]
        row = draw(st.sampled_from(table[1:]))
        if row:
            row[draw(st.integers(0, len(row) - 1))] = draw(st.one_of(IDS, TEXTS))
    if draw(st.booleans()):
        quoting = draw(st.sampled_from(["minimal", "all", "by hand"]))
    style = {name: draw(st.booleans()) for name in ("bom", "last", "blank")}
    return first, render(table, line_end, quoting, **style)


def fast(expected: bytes, candidate: bytes, keep_rows: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("expected.csv", "candidate.csv")]
        for path, data in zip(paths, (expected, candidate), strict=True):
            path.write_bytes(data)
        result = score_final_state(*paths, seed=lambda n: SEED[:n], keep_rows=keep_rows).to_dict()
    del result["scorer_scope"], result["external_checks_required"]
    return result


def outcome(score: Callable[[], dict[str, Any]]) -> dict[str, Any] | str:
    """The figures, or that the input was refused."""
    try:
        return score()
    except (InputError, csv.Error, KeyError, UnicodeDecodeError):
        return "refused"


@settings(max_examples=250, deadline=None)
@given(files(), st.sampled_from([0, 1_000_000]))
def test_fast_equals_plain(pair: tuple[bytes, bytes], keep_rows: int) -> None:
    assert outcome(lambda: fast(*pair, keep_rows)) == outcome(lambda: score_plain(*pair))


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_fast_equals_plain_on_any_text(data: st.DataObject) -> None:
    """Files that nobody's writer made: quotation marks, commas, line ends and bad bytes anywhere."""
    pieces = st.sampled_from([b"A", b"B", b",", b'"', b'"', b'",', b',"', b"\n", b"\r", b"\xc3\xa9"])
    rare = st.one_of(*[pieces] * 40, st.sampled_from([b"\xe9", b"\xed\xa0\x80"]))
    texts = st.lists(rare, max_size=12).map(lambda parts: b"file_id,x\n" + b"".join(parts))
    first = data.draw(texts)
    second = data.draw(st.one_of(st.just(first), texts))
    assert outcome(lambda: fast(first, second, 1_000_000)) == outcome(lambda: score_plain(first, second))


@settings(max_examples=60, deadline=None)
@given(files(), st.integers(8, 64))
def test_block_borders_change_nothing(pair: tuple[bytes, bytes], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_table, "_BLOCK_BYTES", block)
        patch.setattr(_csv_table, "_SPAN_BYTES", block)
        patch.setattr(_csv_table, "_GAP_BYTES", 4)
        small = outcome(lambda: fast(*pair, 1_000_000))
    assert small == outcome(lambda: score_plain(*pair))


@settings(max_examples=30, deadline=None)
@given(files(), st.binary(min_size=32, max_size=32))
def test_no_figure_depends_on_the_key(pair: tuple[bytes, bytes], seed: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        first = outcome(lambda: fast(*pair, 1_000_000))
        patch.setattr("test_final_state_engine.SEED", seed)
        assert outcome(lambda: fast(*pair, 1_000_000)) == first
