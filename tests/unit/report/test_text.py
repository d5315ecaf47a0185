"""The scorecard, the progress line and the transcript: never beyond 80 columns, colour only where it is wanted."""

from __future__ import annotations

import re

import msgspec
import pytest

from proctor.report.style import COLOUR, PLAIN
from proctor.report.text import incident, progress_line, scorecard
from proctor.report.transcript import cell_text, run_text, trace_text
from proctor.report.values import text_width
from report_kit import (
    FOLDER,
    HOSTILE,
    poisoned,
    poisoned_document,
    poisoned_evidence,
    sample,
    sample_evidence,
    sample_report,
)


def _all_texts(poison: str) -> list[str]:
    report, document = poisoned(sample_report(), poison), poisoned_document(poison)
    evidence = poisoned_evidence(document, poison)
    rows = [(poison, step) for step in next(iter(evidence.values())).steps]
    return [
        scorecard(report, folder=FOLDER),
        scorecard(report, folder=FOLDER, brief=True),
        incident(report, wanted=("missing_row",), namespace="x"),
        run_text(document, folder=FOLDER),
        *(cell_text(cell, evidence.get(cell.name), folder="run") for cell in document.cells[:4]),
        trace_text(document.cells[0], rows),
    ]


@pytest.mark.parametrize("poison", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_no_line_is_wider_than_a_terminal_and_nothing_unprintable_gets_through(poison: str) -> None:
    for text in _all_texts(poison):
        for line in text.split("\n"):
            assert line.isprintable()
            if not line.startswith(("  whole trace ", "  check the record ")):  # commands are never cut
                assert text_width(line) <= 80, line


def test_colour_repeats_what_the_words_say() -> None:
    plain = scorecard(sample_report(), folder=FOLDER)
    coloured = scorecard(sample_report(), folder=FOLDER, style=COLOUR)
    assert "\x1b[1;31mBLOCK\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    document, evidence = sample(), sample_evidence()["R01/3"]
    cell = next(cell for cell in document.cells if cell.name == "R01/3")
    shown = cell_text(cell, evidence, folder=FOLDER, style=COLOUR)
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == cell_text(cell, evidence, folder=FOLDER, style=PLAIN)


def test_progress_has_rate_and_what_is_left_once_time_is_known() -> None:
    assert progress_line(3, 6, "R07/3", "passed") == "[##########          ] 3/6  R07/3 passed"
    assert progress_line(3, 6, "R07/3", "passed", seconds=7.2).endswith("R07/3 passed  2.4 s a cell, 7 s left")
    assert progress_line(6, 6, "R07/3", "failed", seconds=3.0).endswith("R07/3 failed  2 cells a second")
    assert progress_line(1, 4_000, "R07/3", "passed", seconds=2.0).endswith("2.0 s a cell, 2 h 13 min left")
    assert progress_line(10, 500, "R07/3", "passed", seconds=2.0).endswith("5 cells a second, 1 min 38 s left")
    assert len(progress_line(999_999, 1_000_000, "x" * 500, "grader_error", seconds=1e6)) < 80


def test_an_excerpt_says_which_steps_it_leaves_out() -> None:
    whole = sample_evidence()["R01/3"]
    cell = next(cell for cell in sample().cells if cell.name == "R01/3")
    part = msgspec.structs.replace(whole, steps=whole.steps[1:3])
    text = cell_text(cell, part, folder=FOLDER)
    assert "… 1 step not shown" in text
    assert "… 3 more steps" in text
    assert "> " in text and "< forbidden_action" in text
