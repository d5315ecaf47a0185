"""The record that a note is held against, from a key's ``note_facts`` or from a record's plain fields.

Plain fields are typed by their look: ``2026-11-02`` is a date, ``1250.00 EUR`` an amount, ``C-1043`` an id, ``status``
a status, ``outstanding`` and ``documents`` lists of items; any other text with two capitalised words is a name, and
the field's own name is its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.codec.models import convert
from proctor.errors import Place
from proctor.grade.keys import FactKind, NoteFact, NoteRecord
from proctor.suite.layout import Layout

__all__ = ["read_record"]

_LOOKS: tuple[tuple[FactKind, str], ...] = (
    ("date", r"\d{4}-\d\d-\d\d"),
    ("amount", r"\d+\.\d\d [A-Z]{3}"),
    ("id", r"[A-Z]{1,6}-?\d[\dA-Z]*(?:-[\dA-Z]+)*"),
    ("name", r"[^\W\d_].* [^\W\d_].*"),
)
_STATES = {"outstanding": "outstanding", "missing": "outstanding", "documents": "present", "received": "present"}


def read_record(record: NoteRecord | Mapping[str, Any], place: Place) -> NoteRecord:
    """A ``NoteRecord``. Raises ``SuiteError`` with the field that is wrong."""
    if isinstance(record, NoteRecord):
        return record
    if "facts" in record:
        base = place.field or ""
        return convert(
            record, NoteRecord, place=lambda path: Place(place.file, place.line, f"{base}.{path}" if path else base)
        )
    facts = tuple(fact for field, value in record.items() for fact in _facts(field, value))
    labels: dict[FactKind, dict[str, tuple[str, ...]]] = {}
    for fact in facts:
        if fact.kind not in ("item", "status"):
            labels.setdefault(fact.kind, {})[fact.field] = (fact.field.replace("_", " "),)
    return NoteRecord(facts=facts, labels=labels, vocabulary={"status": Layout(table="cases").statuses})


def _facts(field: str, value: Any) -> Iterator[NoteFact]:
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if not isinstance(one, str) or not one:
            continue
        if field in _STATES:
            state: Any = _STATES[field]
            yield NoteFact(field=field, kind="item", value=one, state=state, required=state == "outstanding")
        elif field == "status":
            yield NoteFact(field=field, kind="status", value=one)
        else:
            kind = next((kind for kind, look in _LOOKS if re.fullmatch(look, one)), None)
            if kind is not None:
                yield NoteFact(field=field, kind=kind, value=one)
