"""TOML with the line of every key: reading is the standard library's, the lines are found beside it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.errors import InputError, Place, SuiteError

__all__ = ["key_lines", "read_toml"]

_TABLE = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def read_toml(path: Path, *, error: type[InputError] = SuiteError) -> tuple[dict[str, Any], Callable[[str], Place]]:
    """A TOML file's values, and a function from a field path to its place (the nearest enclosing line known).

    Raises ``error`` for an unreadable file or broken TOML, with the line.
    """
    name = str(path)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
        values = tomllib.loads(text)
    except OSError as fault:
        raise error(
            f"can't read the file: {fault.strerror}", place=Place(name), expected="a TOML file", code="no_file"
        ) from fault
    except UnicodeDecodeError as fault:
        raise error("not UTF-8", place=Place(name, raw.count(b"\n", 0, fault.start) + 1), code="encoding") from fault
    except tomllib.TOMLDecodeError as fault:
        match = _ERROR_LINE.search(str(fault))
        line = int(match[1]) if match else text.count("\n") + 1
        what = _ERROR_LINE.sub("", str(fault)).strip()
        raise error(f"invalid TOML: {what}", place=Place(name, line), expected="TOML", code="syntax") from fault
    lines = key_lines(text)

    def place(field: str) -> Place:
        key = field
        while key and key not in lines:
            key = re.sub(r"(\[\d+\]|\.?[^.\[\]]+)$", "", key)
        return Place(name, lines.get(key), field or None)

    return values, place


def key_lines(text: str) -> dict[str, int]:
    """Dotted key → line, from 1. Keys inside inline tables and arrays stand on their owner's line."""
    lines: dict[str, int] = {}
    table = ""
    counts: dict[str, int] = {}
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is not None:
            inside = None if inside in line else inside
            continue
        if header := _TABLE.match(line):
            table = ".".join(_parts(header[1]))
            if line.lstrip().startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                lines.setdefault(table, number)
                table = f"{table}[{counts[table]}]"
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            path = table
            for part in _parts(key[1]):
                path = f"{path}.{part}" if path else part
                lines.setdefault(path, number)
            inside = next((q for q in ('"""', "'''") if line.count(q) % 2), None)
    return lines


def _parts(key: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(key)]
