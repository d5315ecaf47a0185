"""What is known about a dataset's cases beside their rows: ``dataset.meta.jsonl`` next to ``dataset.jsonl``.

Rows stay closed; group, annotator, review state, reasons for relabelling and the source's snapshot stand here, one
case a line. Left out: what follows from them (``suite.difference``, ``suite.split``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from proctor.codec.jsonl import read_jsonl
from proctor.codec.models import convert
from proctor.errors import InvalidEvaluation, Place

__all__ = ["CaseMeta", "Relabel", "Snapshot", "load_meta", "meta_path"]

Text = Annotated[str, msgspec.Meta(min_length=1, pattern=r"\S")]


class Relabel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change of a case's answer key: from what to what, who did it, and why."""

    before: Any
    after: Any
    reason: Text
    annotator: Text
    at: Text | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document that the answer key rests on, as it was: its name and the SHA-256 of its bytes."""

    document: Text
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class CaseMeta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known about one case. A ``disputed`` case may not count as truth until it is settled. ``group`` names
    what it shares with its near-copies: a customer, a document, a template."""

    id: Text
    group: Text | None = None
    annotator: Text | None = None
    review: Literal["unreviewed", "reviewed", "disputed"] = "unreviewed"
    relabels: tuple[Relabel, ...] = ()
    source: Snapshot | None = None


def meta_path(dataset: Path) -> Path:
    """``cases.jsonl`` → ``cases.meta.jsonl`` in the same folder."""
    return dataset.with_name(f"{dataset.name.removesuffix('.jsonl')}.meta.jsonl")


def load_meta(dataset: Path) -> dict[str, CaseMeta]:
    """The sidecar of a dataset by case id; empty where there is none. Raises ``InvalidEvaluation`` with the line."""
    path = meta_path(dataset)
    if not path.is_file():
        return {}
    found: dict[str, CaseMeta] = {}
    for line, row in read_jsonl(path):

        def place(field: str, line: int = line) -> Place:
            return Place(str(path), line, field or None)

        meta = convert(row, CaseMeta, place=place, error=InvalidEvaluation)
        if meta.id in found:
            raise InvalidEvaluation("two rows for one case", place=place("id"), expected="each id once", found=meta.id)
        found[meta.id] = meta
    return found
