"""Writes the renderings of the sample report into this folder: ``python tests/golden/report/generate.py``.

Look at what changed before you keep it; the tests compare byte for byte.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from proctor.report.csv import render_csv  # noqa: E402
from proctor.report.junit import render_junit  # noqa: E402
from proctor.report.markdown import render_markdown  # noqa: E402
from proctor.report.text import incident, scorecard  # noqa: E402
from proctor.report.transcript import cell_text, run_text, trace_text  # noqa: E402
from report_kit import FOLDER, sample, sample_evidence, sample_report  # noqa: E402


def renderings() -> dict[str, bytes]:
    """File name → bytes."""
    document, evidence = sample(), sample_evidence()["R01/3"]
    cell = next(cell for cell in document.cells if cell.name == "R01/3")
    rows = [("R01/3.0", step) for step in evidence.steps]
    texts = {
        "scorecard.txt": scorecard(sample_report(), folder=FOLDER),
        "incident.txt": incident(sample_report(), wanted=("forbidden_action",), namespace="refund"),
        "show.txt": run_text(document, folder=FOLDER) + "\n" + cell_text(cell, evidence, folder=FOLDER),
        "trace.txt": trace_text(cell, rows),
        "report.md": render_markdown(document, folder=FOLDER),
        "cells.csv": render_csv(document),
    }
    return {"junit.xml": render_junit(document), **{name: text.encode() for name, text in texts.items()}}


if __name__ == "__main__":
    for name, data in renderings().items():
        (HERE / name).write_bytes(data)
