"""Colour in a terminal as a value: on or off. Pure; who asks the terminal is ``cli.terminal``.

Colour only ever repeats what the words say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["COLOUR", "PLAIN", "Style"]

_VERDICTS = {"PASS": "32", "BLOCK": "31", "INVALID": "31", "UNDECIDED": "33"}


@dataclass(frozen=True, kw_only=True)
class Style:
    """How text is marked. Widths are worked out before: marks take no column."""

    enabled: bool

    def bold(self, text: str) -> str:
        """Important."""
        return self._mark("1", text)

    def dim(self, text: str) -> str:
        """Beside the point."""
        return self._mark("2", text)

    def good(self, text: str) -> str:
        """As it should be."""
        return self._mark("32", text)

    def bad(self, text: str) -> str:
        """Not as it should be."""
        return self._mark("31", text)

    def warn(self, text: str) -> str:
        """To be looked at."""
        return self._mark("33", text)

    def verdict(self, name: str, text: str) -> str:
        """In the verdict's colour."""
        return self._mark(f"1;{_VERDICTS.get(name, '1')}", text)

    def _mark(self, number: str, text: str) -> str:
        return f"\x1b[{number}m{text}\x1b[0m" if self.enabled and text else text


PLAIN: Final = Style(enabled=False)
COLOUR: Final = Style(enabled=True)
