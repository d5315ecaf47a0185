"""The page in a real browser: no console message, the content policy holds, nothing is wider than the window.

Needs Debian's ``chromium``; without it these tests skip and say so.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from proctor.report.html import render_html
from report_kit import FOLDER, HOSTILE, poisoned_document, poisoned_evidence, sample, sample_evidence

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(_BROWSER is None, reason="no chromium here: install Debian's package chromium")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>')


def _open(folder: Path, page: bytes) -> tuple[str, list[str]]:
    """The page's tree after loading, and what the console said."""
    path = folder / "report.html"
    path.write_bytes(page)
    profile = folder / "profile"
    command = [str(_BROWSER), *_FLAGS, f"--user-data-dir={profile}", "--window-size=1400,900", "--dump-dom"]
    done = subprocess.run([*command, path.as_uri()], capture_output=True, timeout=120, check=True)
    console = [line for line in done.stderr.decode(errors="replace").split("\n") if "CONSOLE" in line]
    return done.stdout.decode(), console


def _page(poison: str | None = None) -> bytes:
    if poison is None:
        return render_html(sample(), folder=FOLDER, evidence=sample_evidence())
    document = poisoned_document(poison)
    return render_html(document, folder=FOLDER, evidence=poisoned_evidence(document, poison))


def test_a_page_loads_without_a_word_on_the_console(tmp_path: Path) -> None:
    tree, console = _open(tmp_path, _page())
    assert console == []
    assert "The gate does not hold." in tree


def test_hostile_text_is_text_to_a_browser(tmp_path: Path) -> None:
    poison = " ".join(text[:300] for text in HOSTILE)
    tree, console = _open(tmp_path, _page(poison))
    assert console == []
    assert not re.search(r"<(script|img|svg onload|iframe|b)\b", tree)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in tree


def test_the_policy_stops_what_slipped_through(tmp_path: Path) -> None:
    slipped = b'<script>document.title="taken"</script><img src="https://example.org/x.png"><p style="color:red">x</p>'
    page = _page().replace(b'<main id="main"', slipped + b'<main id="main"', 1)
    tree, console = _open(tmp_path, page)
    said = "\n".join(console)
    assert "<title>taken</title>" not in tree
    for directive in ("script-src", "img-src", "style-src"):
        assert directive in said, said
    open_tree, _ = _open(tmp_path, _POLICY.sub(b"", page))
    assert "<title>taken</title>" in open_tree, "without the policy the script must run, else this test shows nothing"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("poison", [None, HOSTILE[1], HOSTILE[-1]], ids=["sample", "markup", "long"])
def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int, poison: str | None) -> None:
    """In a frame, since a window can't be as narrow as a telephone; the frame measures itself, all sections open."""
    measure = (
        b"<script>addEventListener('load',()=>{for(const d of document.querySelectorAll('details'))d.open=true;"
        b"parent.postMessage(innerWidth+' '+document.documentElement.scrollWidth,'*')})</script>"
    )
    inner = tmp_path / "inner.html"
    inner.write_bytes(_POLICY.sub(b"", _page(poison)).replace(b"</main>", b"</main>" + measure))
    listen = "<script>addEventListener('message',e=>{document.title=e.data})</script>"
    outer = f'{listen}<iframe src="inner.html" width="{width}" height="800" style="border:0"></iframe>'
    tree, _ = _open(tmp_path, outer.encode())
    found = re.search(r"<title>(\d+) (\d+)</title>", tree)
    assert found, "the script did not measure"
    assert int(found[1]) == width
    assert int(found[2]) <= width, found[0]
