"""Strict JSONL: lines end at a line feed alone, and every fault names its line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from proctor.codec.json_strict import JsonFault, Limits
from proctor.codec.jsonl import iter_jsonl, read_jsonl
from proctor.errors import InputError


def rows(data: bytes) -> list[tuple[int, dict[str, object]]]:
    return list(iter_jsonl(io.BytesIO(data), file="r.jsonl"))


def test_line_separators_inside_strings_are_text() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be"
    data = ('{"t":"' + text.replace("\x0b", "\\u000b") + '"}\n{"t":1}\n').encode()
    assert rows(data) == [(1, {"t": text}), (2, {"t": 1})]


def test_crlf_and_a_last_line_without_end() -> None:
    assert rows(b'{"a":1}\r\n{"a":2}') == [(1, {"a": 1}), (2, {"a": 2})]
    assert rows(b"") == []


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b" \t\n"])
def test_a_blank_line_is_a_fault(blank: bytes) -> None:
    with pytest.raises(JsonFault, match=r"r\.jsonl:2: blank line; expected one JSON object a line"):
        rows(b'{"a":1}\n' + blank + b'{"a":2}\n')


def test_faults_name_the_line() -> None:
    with pytest.raises(JsonFault, match=r"r\.jsonl:3: a: duplicate JSON key"):
        rows(b'{"a":1}\n{"a":2}\n{"a":1,"a":2}\n')
    with pytest.raises(JsonFault, match=r"r\.jsonl:2: not an object; expected a JSON object; found \[1\]"):
        rows(b'{"a":1}\n[1]\n')
    with pytest.raises(JsonFault, match=r"r\.jsonl:1: invalid JSON: trailing characters"):
        rows(b'{"a":1}{"a":2}\n')


def test_a_line_above_the_limit_is_not_read_whole() -> None:
    stream = io.BytesIO(b'{"a":"' + b"x" * 10_000 + b'"}\n')
    with pytest.raises(JsonFault, match="too large"):
        list(iter_jsonl(stream, limits=Limits(max_bytes=100)))
    assert stream.tell() < 200


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't read the file: No such file"):
        read_jsonl(tmp_path / "none.jsonl")
