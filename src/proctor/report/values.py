"""Values of unknown origin as text that is safe to look at, cut to a size that fits. Pure.

Nothing unprintable gets through: control, bidirectional, private and unassigned characters appear as ``\\u202e``.
Escaping for a format (HTML, XML, Markdown, CSV) comes after, in that format's own file.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import msgspec

from proctor.report.document import Spread

__all__ = [
    "counted",
    "fit",
    "interval_text",
    "one_line",
    "pad",
    "percent",
    "text_width",
    "value_text",
    "visible",
    "wrap",
]

_encode = msgspec.json.Encoder(order=None).encode
_EMOJI_STYLE = "\ufe0f"


def visible(text: str, limit: int | None = None) -> str:
    """The text on one line, unprintable characters escaped. Longer than ``limit``: cut, with the length it had."""
    cut = text if limit is None else text[:limit]
    shown = cut if cut.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in cut)
    if limit is None or (len(text) <= limit and len(shown) <= limit):
        return shown
    return f"{shown[:limit]}… ({len(text):,} characters)"


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def value_text(value: Any) -> str:
    """A JSON value as compact JSON; a text as itself; bytes as hex; nothing as ``nothing``."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value
    try:
        return _encode(value).decode()
    except (TypeError, UnicodeEncodeError):
        return repr(value)


def one_line(value: Any, limit: int = 200) -> str:
    """``value_text`` made visible and cut."""
    return visible(value_text(value), limit)


def text_width(text: str) -> int:
    """Columns that a printable text takes: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if character == _EMOJI_STYLE:
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fit(text: str, width: int) -> str:
    """The text in at most ``width`` columns, cut with an ellipsis. Unprintable characters are escaped first."""
    shown = visible(text[: 4 * width + 4])
    if len(text) <= 4 * width + 4 and text_width(shown) <= width:
        return shown
    used, kept = 0, []
    for character in shown:
        used += _width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def pad(text: str, width: int) -> str:
    """``fit``, filled with spaces to exactly ``width`` columns."""
    shown = fit(text, width)
    return shown + " " * (width - text_width(shown))


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` columns, broken at spaces; a word too long for a line starts where it stands."""
    lines: list[str] = []
    line, used = "", 0
    for number, word in enumerate(visible(text).split(" ")):
        size = text_width(word)
        fits = used + 1 + size <= width or (size > width and used + 8 < width)
        if number and fits:
            line, used = f"{line} {word}", used + 1 + size
        else:
            if number:
                lines.append(line)
            line, used = word, size
        while used > width:
            head = _head(line, width)
            lines.append(head)
            line = line[len(head) :]
            used = text_width(line)
    return [*lines, line]


def _head(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _width(character)
        if used > width:
            return text[: max(index, 1)]
    return text


def percent(rate: float | None) -> str:
    """``66.7%``; never rounded up to 100% or down to 0%."""
    if rate is None:
        return "unknown"
    shown = f"{rate:.1%}"
    if shown == "100.0%" and rate < 1:
        return ">99.9%"
    return "<0.1%" if shown == "0.0%" and rate > 0 else shown


def interval_text(interval: Spread | None) -> str:
    """``81.2% to 96.0%``, or why there is none; empty where nothing is known of one."""
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return f"can't tell: {interval.reason}"
    return f"{percent(interval.low)} to {percent(interval.high)}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """``1 cell``, ``1,200 cells``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
