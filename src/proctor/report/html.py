"""The report as one self-contained web page: no script, no request, a content policy that holds its own style only.

All data is hostile: it is made visible (``values``), cut, escaped by the template's autoescape, and never stands in an
attribute. The page is bounded; what it leaves out it counts, and says where the rest is. Left out: what is shown where
(``report.page``) and reading a run (``report.load``).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from proctor.report.document import Document
from proctor.report.evidence import CellEvidence
from proctor.report.page import PageLimits, Shown, make_page
from proctor.report.values import visible

__all__ = ["MAX_PAGE_BYTES", "render_html"]

MAX_PAGE_BYTES = 2_000_000
_TEXT_LIMIT = 2_000


def render_html(
    document: Document,
    *,
    folder: str,
    evidence: Mapping[str, CellEvidence] | None = None,
    limits: PageLimits | None = None,
) -> bytes:
    """The page as UTF-8. ``folder`` is how a reader names the run on the command line; ``evidence`` goes by cell.

    Too large a page is made again with half of everything, until it is within ``MAX_PAGE_BYTES``.
    """
    chosen = limits or PageLimits()
    style, policy = _style()
    template = _environment().get_template("report.html.j2")
    while True:
        page = make_page(document, folder=folder, evidence=evidence or {}, limits=chosen)
        data = template.render(page=page, style=Markup(style), policy=policy).encode()  # noqa: S704 - our own file
        if len(data) <= MAX_PAGE_BYTES or chosen.is_least:
            return data
        chosen = chosen.halved()


@lru_cache(maxsize=1)
def _style() -> tuple[str, str]:
    """The style sheet, and the policy that allows it and nothing else."""
    style = (files("proctor.report") / "templates" / "report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return style, f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("proctor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_show,
    )


def _show(value: Any) -> Any:
    """Every expression of the template passes here before it is escaped."""
    if value is None:
        return ""
    if isinstance(value, (Markup, Shown)):
        return value
    return visible(value if isinstance(value, str) else str(value), _TEXT_LIMIT)
