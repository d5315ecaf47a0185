"""JUnit, Markdown and CSV: what they say, and that hostile text stays text in each."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from proctor.report.csv import render_csv
from proctor.report.junit import render_junit
from proctor.report.markdown import MAX_CHARACTERS, code, render_markdown
from report_kit import BENIGN, FOLDER, HOSTILE, poisoned_document, sample

_IDS = lambda text: ascii(text[:12])  # noqa: E731


def _shape(element: ET.Element) -> list[object]:
    return [element.tag, sorted(element.keys()), [_shape(child) for child in element]]


@pytest.mark.parametrize("poison", HOSTILE, ids=_IDS)
def test_junit_holds_hostile_text_as_text(poison: str) -> None:
    root = ET.fromstring(render_junit(poisoned_document(poison)))
    assert _shape(root) == _shape(ET.fromstring(render_junit(poisoned_document(BENIGN))))
    assert len(ET.tostring(root)) < 200_000


def test_junit_counts_failures_apart_from_errors_and_skips_nothing() -> None:
    root = ET.fromstring(render_junit(sample()))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    for name in ("R02/3", "R03/1", "R03/2", "R03/3"):
        assert kinds[name] == ["error"], name
    for name in ("R01/2", "R01/3", "R02/1", "R02/2"):
        assert kinds[name] == ["failure"], name
    assert kinds["R01/1"] == kinds["R04/3"] == []
    assert kinds["zero.missing"] == kinds["verdict"] == ["failure"]
    assert kinds["integrity"] == []
    assert not list(root.iter("skipped"))
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["20", "10", "4", "0"]
    failure = cases["R01/3"].find("failure")
    assert failure is not None and failure.get("type") == "missing_row, forbidden_action"
    assert "forbidden_action at cycle 1 · step 3: delete_order is forbidden" in (failure.text or "")
    assert 'found {"id":"A7"}' in (failure.text or "")
    assert cases["R02/3"].get("time") is None and cases["R01/1"].get("time") == "1.250"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, object]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "code":  # a plain word and an escaped text both end up in code, by two ways
            self.tags.append((tag, tuple(attrs)))


def _markdown_tags(poison: str) -> list[tuple[str, object]]:
    """What a reader of GitHub's Markdown makes of a comment: raw HTML passes, tables and bare links are known."""
    text = render_markdown(poisoned_document(poison), folder=FOLDER)
    parser = _Tags()
    parser.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return parser.tags


@pytest.mark.parametrize("poison", HOSTILE, ids=_IDS)
def test_markdown_holds_hostile_text_as_code(poison: str) -> None:
    assert _markdown_tags(poison) == _markdown_tags(BENIGN)
    text = render_markdown(poisoned_document(poison), folder=poison[:300])
    assert len(text) <= MAX_CHARACTERS
    assert all(character.isprintable() or character == "\n" for character in text)


def test_code_can_not_be_left() -> None:
    assert code("plain @name http://x <b>") == "`plain @name http://x <b>`"
    assert code("a|b") == "<code>a&#124;b</code>"
    assert code("`x` www.example.org") == "<code>&#96;x&#96; www&#46;example.org</code>"
    assert code(" padded ") == "<code> padded </code>"
    assert code("") == ""


def test_markdown_says_verdict_figures_and_the_worst_cells() -> None:
    text = render_markdown(sample(), folder=FOLDER)
    for words in (
        "### ❌ Proctor: BLOCK · `refund 3`",
        "**4 of 12 cells passed** (33.3%) · agent `cmd:python3 agent.py` · 2 unresolved cells: between 33.3% and 50.0%",
        "| `completeness` | 0.3636 | 4/11 |",
        "<summary>Gate: 2 of 7 rules hold</summary>",
        "#### The worst of 8 cells that did not pass",
        "- **`R01/3`** failed",
        "- `forbidden_action` **critical** · cycle 1 · step 3 `delete_order is forbidden`",
        "See why: `proctor show runs/example`",
    ):
        assert words in text, words


@pytest.mark.parametrize("poison", HOSTILE, ids=_IDS)
def test_csv_holds_hostile_text_in_its_field(poison: str) -> None:
    rows = list(csv.reader(io.StringIO(render_csv(poisoned_document(poison)), newline="")))
    assert len(rows) == 13
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not any(field.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for field in row)


def test_csv_has_a_row_a_cell_and_keeps_unknown_empty() -> None:
    rows = list(csv.DictReader(io.StringIO(render_csv(sample()), newline="")))
    by_name = {(row["case"], row["run"]): row for row in rows}
    assert by_name["R01", "3"]["codes"] == "missing_row forbidden_action"
    assert by_name["R01", "3"]["first_code"] == "forbidden_action"
    assert by_name["R01", "3"]["first_steps"] == "3"
    assert by_name["R01", "1"]["metric.completeness"] == "1.0"
    assert by_name["R02", "3"]["metric.completeness"] == by_name["R02", "3"]["seconds"] == ""
    assert by_name["R01", "1"]["tokens"] == ""
    assert [row["passed"] for row in rows].count("true") == 4


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "＝1", "  =1"])
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert f"'{text}" in render_csv(poisoned_document(text))
