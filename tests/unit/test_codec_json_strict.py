"""Strict JSON: what is refused, with which words, and where."""

from __future__ import annotations

import pytest

from proctor.codec.json_strict import JsonFault, Limits, parse_json

REFUSED = [
    (b'{"a":1,"a":2}', "duplicate_key", 1, "a"),
    (b'{"x":{"a":1,\n"b":[{"k":1},{"k":2,"k":3}]}}', "duplicate_key", 2, "x.b[1].k"),
    (b'{"o":{"a.b":1,"a.b":2}}', "duplicate_key", 1, "o.a.b"),
    (b'{"a":1,"\\u0061":2}', "duplicate_key", 1, "a"),
    (b'{"k":{"k":1,"k":2}}', "duplicate_key", 1, "k.k"),
    (b"[NaN]", "non_finite", 1, "[0]"),
    (b'{"a":Infinity}', "non_finite", 1, "a"),
    (b'{"a":[1,\n-Infinity]}', "non_finite", 2, "a[1]"),
    (b'{"a":[1,\n{"b":1e999}]}', "non_finite", 2, "a[1].b"),
    (b"[-1e400]", "non_finite", 1, "[0]"),
    (b'{"a":18446744073709551616,"b":[1e999]}', "non_finite", 1, "b[0]"),
    (b"9" * 400 + b".0", "non_finite", 1, None),
    (b'{"a":"\\ud800"}', "encoding", 1, "a"),
    (b'{"a":\n"\xff"}', "encoding", 2, "a"),
    (b'"\xed\xa0\x80"', "encoding", 1, None),
    (b"\xef\xbb\xbf{}", "encoding", 1, None),
    (b'{"a":1} x', "syntax", 1, None),
    (b"", "syntax", 1, None),
    (b'{"a":', "syntax", 1, "a"),
    (b"[1,]", "syntax", 1, "[1]"),
    (b"[nul, NaN]", "syntax", 1, "[0]"),
    (b"01", "syntax", 1, None),
    (b"'a'", "syntax", 1, None),
    (b'"a\nb"', "syntax", 2, None),
    (b'"\x00"', "syntax", 1, None),
    (b"[" * 129 + b"]" * 129, "too_deep", 1, "[0]" * 128),
    (b"[" * 5000 + b"]" * 5000, "too_deep", 1, None),
]


@pytest.mark.parametrize(("data", "code", "line", "field"), REFUSED)
def test_refusals_name_their_place(data: bytes, code: str, line: int, field: str | None) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(data, file="f.json", first_line=10)
    fault = caught.value
    assert fault.code == code
    assert fault.place is not None and fault.place.file == "f.json"
    assert fault.place.line == 9 + line
    if field is not None or code != "too_deep":
        assert fault.place.field == field
    assert fault.expected is not None
    assert fault.message.startswith(f"f.json:{9 + line}:")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b"1e308", 1e308),
        (b'{"a":{"a":1},"b":{"a":1}}', {"a": {"a": 1}, "b": {"a": 1}}),
        (b"1" * 400, int("1" * 400)),
        (b'["1e999 NaN Infinity"]', ["1e999 NaN Infinity"]),
        ('"\u2028"'.encode(), "\u2028"),
        (b"[" * 128 + b"]" * 128, None),
        (b"[" + b"[]," * 500 + b"[]]", [[]] * 501),
    ],
)
def test_what_is_well_formed_is_read(data: bytes, value: object) -> None:
    assert value is None or parse_json(data) == value
    parse_json(memoryview(data))


def test_limits() -> None:
    with pytest.raises(JsonFault, match="too large; expected at most 4 bytes; found 5 bytes"):
        parse_json(b"12345", limits=Limits(max_bytes=4))
    with pytest.raises(JsonFault, match=r"a\[0\]: nested too deeply; expected at most 2 levels"):
        parse_json(b'{"a":[[1]],"b":1}', limits=Limits(max_depth=2))
    assert parse_json(b'{"a":[1],"b":[2],"c":"[[[[["}', limits=Limits(max_depth=2))["b"] == [2]


def test_found_shows_the_whole_word() -> None:
    with pytest.raises(
        JsonFault, match="list\\[1\\]: invalid JSON: expected ident; expected one JSON value; found 'nope]}'"
    ):
        parse_json(b'{"list":[1,nope]}')
