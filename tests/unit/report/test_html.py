"""The web page: hostile text never becomes markup, the policy names its one style, contrast is enough, size bounded."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from proctor.report import html
from proctor.report.document import read_document
from proctor.report.html import MAX_PAGE_BYTES, render_html
from proctor.report.page import PageLimits
from report_kit import (
    BENIGN,
    FOLDER,
    HOSTILE,
    poisoned_document,
    poisoned_evidence,
    sample,
    sample_evidence,
    sample_report,
)


class _Skeleton(HTMLParser):
    """Tags with their attributes in order, comments and declarations, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[object] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", data))

    def handle_pi(self, data: str) -> None:
        self.tags.append(("instruction", data))


def _skeleton(page: bytes) -> _Skeleton:
    parser = _Skeleton()
    parser.feed(page.decode())
    parser.close()
    return parser


def _page(poison: str) -> bytes:
    document = poisoned_document(poison)
    return render_html(document, folder=poison[:200], evidence=poisoned_evidence(document, poison))


@pytest.mark.parametrize("poison", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_text_from_data_never_becomes_a_tag_or_an_attribute(poison: str) -> None:
    page = _page(poison)
    found, plain = _skeleton(page), _skeleton(_page(BENIGN))
    assert found.tags == plain.tags
    text = "".join(found.text)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert len(page) < MAX_PAGE_BYTES


def test_an_unescaped_text_would_be_noticed() -> None:
    spoiled = _page(BENIGN).replace(b"<bdi>word</bdi>", b"<bdi><b>word</b></bdi>", 1)
    assert _skeleton(spoiled).tags != _skeleton(_page(BENIGN)).tags


def test_the_policy_allows_the_one_style_and_nothing_else() -> None:
    page = render_html(sample(), folder=FOLDER, evidence=sample_evidence()).decode()
    style = page[page.index("<style>") + 7 : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    metas = [dict(attrs) for tag, attrs in _starts(page) if tag == "meta"]
    assert {"http-equiv": "Content-Security-Policy", "content": policy} in metas
    for tag, attrs in _starts(page):
        assert tag not in ("script", "iframe", "object", "embed", "form", "link", "base", "img")
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("style", "src")
            if name == "href":
                assert re.fullmatch(r"#[a-z]+\d*", value or ""), value


def _starts(page: str) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    parser = _Skeleton()
    parser.feed(page)
    return [tag for tag in parser.tags if isinstance(tag, tuple) and isinstance(tag[1], tuple)]


def test_every_link_has_a_target_and_every_id_is_there_once() -> None:
    page = render_html(sample(), folder=FOLDER, evidence=sample_evidence()).decode()
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in re.findall(r'href="(#[^"]+)"', page)} <= set(ids)
    assert set(re.findall(r'aria-labelledby="([^"]+)"', page)) <= set(ids)


def test_tables_have_captions_and_scopes() -> None:
    page = render_html(sample(), folder=FOLDER, evidence=sample_evidence()).decode()
    assert page.count("<table") == page.count("<caption") > 5
    assert not re.search(r"<th(?! scope=)[ >]", page)
    assert page.count("<h1") == page.count("<main") == 1
    assert '<html lang="en">' in page


def test_a_failure_leads_to_cycle_event_expected_found_and_the_command() -> None:
    text = " ".join(" ".join(_skeleton(render_html(sample(), folder=FOLDER, evidence=sample_evidence())).text).split())
    for words in (
        "BLOCK refund 3",
        "The gate does not hold. 5 rules of 7 broken.",
        "4 of 12",
        "33.3% to 50.0%",
        "forbidden_action critical cycle 1 · step 3 (event 6)",
        'expected nothing found {"id":"A7"}',
        "injected temporary after the call: took effect",
        "crashed · status 3",
        "The agent wrote to stderr (a claim):",
        "proctor show runs/example R01/3",
        "proctor verify runs/example --cell R01/3",
        "An agent that does nothing would pass 1 of 4 cases.",
        "that the operator of this machine did not collude",
        "protects against accidents only",
    ):
        assert words in text, words


def test_a_page_says_what_it_leaves_out() -> None:
    small = PageLimits(cells=2, findings=1, steps=2, changes=1, grid_cases=1, grid_runs=2)
    page = render_html(sample(), folder=FOLDER, evidence=sample_evidence(), limits=small)
    text = " ".join(" ".join(_skeleton(page).text).split())
    for words in (
        "The 2 worst of 8 cells that did not pass. The others are in report.json.",
        "2 more findings are in report.json.",
        "Steps: 2 of 6",
        "2 more rows differ.",
        "Case × run: the 1 cases that fail most, of 4 and the first 2 runs, of 3",
    ):
        assert words in text, words


def test_a_page_that_would_be_too_large_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    document = poisoned_document("<" * 2_000)
    evidence = poisoned_evidence(document, "<" * 2_000)
    whole = render_html(document, folder=FOLDER, evidence=evidence)
    bound = len(whole) * 2 // 3
    monkeypatch.setattr(html, "MAX_PAGE_BYTES", bound)
    assert len(render_html(document, folder=FOLDER, evidence=evidence)) <= bound


def test_an_interval_that_can_not_be_told_says_why() -> None:
    report = sample_report()
    reason = {"reason": "1 independent case, at least 2 are needed"}
    report["statistics"]["slices"]["late"]["interval"] = reason
    report["statistics"]["reliability"][2]["all_of_k"] = reason
    page = render_html(read_document(report), folder=FOLDER).decode()
    assert page.count("can&#39;t tell: 1 independent case, at least 2 are needed") == 2
    assert page.count('<circle class="dot"') == 3
    assert page.count('<rect class="span"') == 2


def test_a_report_without_statistics_or_run_is_a_page_too() -> None:
    report = {
        "candidate": "good",
        "gate": "PASS",
        "overall": {"passed": 1, "total": 1, "rate": 1.0},
        "cells": [{"case_id": "a", "run": 1, "slice": "x", "failures": [], "passed": True}],
    }
    text = " ".join(" ".join(_skeleton(render_html(read_document(report), folder=FOLDER)).text).split())
    for words in ("PASS", "1 of 1", "No rule of the gate is in this report.", "Unknown: these results were recorded"):
        assert words in text, words


_PAIRS = [
    ("ink", "bg"),
    ("ink", "panel"),
    ("muted", "bg"),
    ("muted", "panel"),
    ("link", "bg"),
    ("link", "panel"),
    *[(f"{name}-ink", f"{name}-bg") for name in ("pass", "fail", "warn", "infra", "miss")],
    *[(f"{name}-ink", "bg") for name in ("pass", "fail", "warn")],
    ("ink", "fail-bg"),
    ("ink", "pass-bg"),
    ("ink", "warn-bg"),
    ("warn-ink", "fail-bg"),
    ("muted", "fail-bg"),
    ("bg", "fail-ink"),
]


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_contrast_is_enough_for_text(scheme: int) -> None:
    """WCAG 2.2, success criterion 1.4.3: at least 4.5 to 1."""
    css = (files("proctor.report") / "templates" / "report.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", blocks[scheme]))
    for ink, ground in _PAIRS:
        assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    shares = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
