"""Values of unknown origin as safe text."""

from __future__ import annotations

import pytest

from proctor.report.values import counted, fit, one_line, pad, percent, text_width, value_text, visible, wrap
from report_kit import HOSTILE


def test_unprintable_characters_are_escaped_where_they_stand() -> None:
    assert visible("a\u202eb\x00\x1b[31m\n") == "a\\u202eb\\u0000\\u001b[31m\\u000a"
    assert visible("\U000e0001") == "\\U000e0001"
    assert visible("é日本 ≥ 😀") == "é日本 ≥ 😀"


def test_a_long_text_says_how_long_it_was() -> None:
    assert visible("x" * 1_000_000, 10) == "xxxxxxxxxx… (1,000,000 characters)"
    assert visible("x" * 10, 10) == "xxxxxxxxxx"
    assert visible("\x00" * 4, 8) == "\\u0000\\u… (4 characters)"


def test_values_show_as_json() -> None:
    assert value_text({"b": 1, "a": None}) == '{"b":1,"a":null}'
    assert value_text(None) == "nothing"
    assert value_text("text") == "text"
    assert value_text({"bad": "\ud800"}).startswith("{")
    assert one_line(["\x07"]) == '["\\u0007"]'


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("≥", 1), ("😀", 2), ("ｗ", 2)])
def test_width_is_what_a_terminal_takes(text: str, columns: int) -> None:
    assert text_width(text) == columns


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 2, 7, 40])
def test_nothing_gets_wider_than_asked(text: str, width: int) -> None:
    assert text_width(fit(text, width)) <= width
    assert text_width(pad(text, width)) == width
    lines = wrap(text[:2_000], width)
    assert all(text_width(line) <= max(width, 2) for line in lines)
    assert "".join(lines).replace(" ", "") == visible(text[:2_000]).replace(" ", "")


def test_wrapping_breaks_at_spaces_and_within_a_word_only_if_it_must() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("aaaaaaaaaaaa", 5) == ["aaaaa", "aaaaa", "aa"]
    assert wrap("", 5) == [""]


def test_a_share_is_never_rounded_to_all_or_nothing() -> None:
    assert [percent(x) for x in (None, 0.0, 1.0, 0.99999, 0.00001, 2 / 3)] == [
        "unknown",
        "0.0%",
        "100.0%",
        ">99.9%",
        "<0.1%",
        "66.7%",
    ]
    assert counted(1, "cell") == "1 cell"
    assert counted(1200, "cell") == "1,200 cells"
