"""A run in every format that there is, as bytes, from its folder. The room's edge: it reads, and never writes.

``renderings`` is what the runner puts into a run's folder; ``render`` is what ``proctor report`` prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from proctor.report.cellpage import PageLimits
from proctor.report.csv import render_csv
from proctor.report.document import read_document
from proctor.report.html import render_html
from proctor.report.junit import render_junit
from proctor.report.load import RunReading
from proctor.report.markdown import render_markdown
from proctor.report.text import scorecard

__all__ = ["FORMATS", "Format", "render", "renderings"]

Format: TypeAlias = Literal["html", "json", "junit", "markdown", "csv", "text"]
FORMATS: tuple[str, ...] = get_args(Format)


def render(reading: RunReading, format_: str, *, folder: str) -> bytes:
    """The report in one of ``FORMATS``. ``folder`` is how a reader names the run on the command line."""
    document = reading.document
    if format_ == "html":
        limits = PageLimits()
        evidence = reading.excerpts(cells=limits.cells, steps=limits.steps, changes=limits.changes)
        return render_html(document, folder=folder, evidence=evidence, limits=limits)
    if format_ == "json":
        return reading.raw
    if format_ == "junit":
        return render_junit(document)
    if format_ == "markdown":
        return render_markdown(document, folder=folder).encode()
    if format_ == "csv":
        return render_csv(document).encode()
    return (scorecard(reading.values, folder=folder) + "\n").encode()


def renderings(folder: Path, report: dict[str, Any]) -> dict[str, bytes]:
    """The files that stand beside ``report.json`` in a run's folder: name → bytes."""
    reading = RunReading(folder, read_document(report), msgspec.json.encode(report))
    return {
        "report.html": render(reading, "html", folder=str(folder)),
        "junit.xml": render(reading, "junit", folder=str(folder)),
    }
