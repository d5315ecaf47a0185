"""A case graded from its files alone: trace, final state, key. The edge of this room: it reads files, and only them.

The document is plain values in a fixed order of graders, so its canonical bytes are the same on every machine.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET

from proctor.codec.json_strict import parse_json
from proctor.codec.jsonl import read_jsonl
from proctor.errors import InputError, Place, SuiteError
from proctor.grade.casefile import FinalState, case_file
from proctor.grade.collateral import grade_collateral
from proctor.grade.keys import Key, read_key, required
from proctor.grade.model import Grade
from proctor.grade.note import grade_note
from proctor.grade.outcome import grade_links, grade_outcome
from proctor.grade.process import grade_process
from proctor.grade.registry import REGISTRY_VERSION
from proctor.suite.layout import Layout
from proctor.worlds.state import open_bytes, read_state

__all__ = ["grade_files", "read_key_file", "read_state_file", "read_trace_file"]

_SQLITE = b"SQLite format 3\x00"
_MOST_BYTES = 1 << 30


def grade_files(
    *, trace: Path, state: Path, key: Path, before: Path | None = None, layout: Layout | None = None
) -> dict[str, Any]:
    """``{"case_id", "registry", "passed", "grades": [{"grader", "passed", "codes"}], "not_graded": [{"grader",
    "why"}]}``. ``passed`` is null where nothing failed but a part of the key is missing; ``collateral`` needs the state
    ``before`` and isn't asked without it. Raises ``InputError`` for a file that can't be used."""
    right, steps, final = read_key_file(key), read_trace_file(trace), read_state_file(state)
    start = None if before is None else read_state_file(before)
    graders: list[tuple[str, str, Callable[[], Grade]]] = [
        ("outcome", "status", lambda: grade_outcome(final, right, layout)),
        ("process", "expected_checks", lambda: grade_process(steps, right, layout)),
        ("links", "links", lambda: grade_links(final, right, layout)),
        (
            "note",
            "note_facts",
            lambda: grade_note(case_file(final, right, layout).note, required(right.note_facts, "note_facts")),
        ),
    ]
    skipped: list[dict[str, str]] = []
    if start is None:
        skipped.append({"grader": "collateral", "why": "not asked: it needs the state before"})
    else:
        begun = start
        graders.append(("collateral", "allowed_changes", lambda: grade_collateral(begun, final, right)))
    grades, unknown = [], False
    for name, part, grade in graders:
        if getattr(right, part) is UNSET:
            skipped.append({"grader": name, "why": f"the key has no {part}"})
            unknown = True
            continue
        made = grade()
        grades.append({"grader": name, "passed": made.passed, "codes": made.codes})
    passed = all(entry["passed"] for entry in grades)
    return {
        "case_id": None if right.case_id is UNSET else right.case_id,
        "registry": REGISTRY_VERSION,
        "passed": None if passed and unknown else passed,
        "grades": grades,
        "not_graded": skipped,
    }


def read_key_file(path: Path) -> Key:
    """A key as JSON, or a case with its ``key``."""
    value = parse_json(_bytes(path), file=str(path))
    if isinstance(value, Mapping) and "key" in value and "id" in value:
        value = value["key"]
    if not isinstance(value, dict):
        raise SuiteError("this is no key", place=Place(str(path)), expected="a JSON object", code="key")
    try:
        return read_key(value)
    except SuiteError as error:
        error.place = Place(str(path), None, error.place.field if error.place else None)
        raise


def read_trace_file(path: Path) -> list[dict[str, Any]]:
    """A trace's rows; of a case that was tried several times, the last attempt's."""
    rows = [row for _, row in read_jsonl(path)]
    last = rows[-1].get("attempt") if rows else None
    return [row for row in rows if row.get("attempt") == last]


def read_state_file(path: Path) -> FinalState:
    """A SQLite file, or JSON: tables of rows, or the case itself."""
    data = _bytes(path)
    if not data.startswith(_SQLITE):
        value = parse_json(data, file=str(path))
        if not isinstance(value, dict):
            raise SuiteError("this is no state", place=Place(str(path)), expected="an object", code="state")
        return value
    try:
        return read_state(open_bytes(data))
    except sqlite3.Error as error:
        problem = f"the database can't be read: {error}"
        raise InputError(problem, place=Place(str(path)), expected="a whole SQLite file", code="state") from None


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise InputError("the file is too large", place=Place(str(path)), expected=f"at most {_MOST_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the file can't be read: {error.strerror}", place=Place(str(path)), expected="a file", code="no_file"
        ) from None
