"""Names, rendered from what is true about a call; rules version 1. There is no parser here, on purpose.

The corpus knows each call's truth first and writes the name from it, so an expected row never depends on anybody's
reading of a name. The grammar itself is in ``name_grammar.abnf``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

RULES_VERSION = "1"
MIME = {"mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "m4a": "audio/mp4"}
NEUTRAL_LABEL = "note"
FIELDS = ("started_local", "direction", "manager", "phone", "duration_sec", "link", "status")
"""The mandatory columns of a row beside ``file_id``."""


def stamp(instant: datetime) -> str:
    """An instant as names write it: 20250330T010000Z."""
    return instant.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def utc_text(instant: datetime) -> str:
    """An instant as the source's metadata writes it: 2025-03-30T01:00:00Z."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def local_text(instant: datetime, zone: str) -> str:
    """An instant in a zone, ISO 8601 with offset; UTC prints +00:00."""
    return instant.astimezone(ZoneInfo(zone)).isoformat(timespec="seconds")


def render(parts: Mapping[str, str]) -> str:
    """A name from its parts: direction, started, phone, manager, ext and, unless empty, label."""
    label = f"_{parts['label']}" if parts["label"] else ""
    return f"{parts['direction']}_{parts['started']}_{parts['phone']}_{parts['manager']}{label}.{parts['ext']}"
