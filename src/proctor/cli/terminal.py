"""What the terminal is like: the one place that asks whether colour is wanted."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from proctor.report.style import COLOUR, PLAIN, Style

__all__ = ["style_for"]


def style_for(stream: TextIO | None = None) -> Style:
    """Colour on a terminal, none elsewhere, nor where ``NO_COLOR`` is set or the terminal is a dumb one."""
    target = stream or sys.stdout
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and target.isatty()
    return COLOUR if wanted else PLAIN
