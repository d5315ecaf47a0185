"""The separate graders as a suite names them (``graders = ["outcome", "process", …]``): from evidence to each one's own
arguments. The key is the case's ``key``, the layout the suite's ``[layout]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET

from proctor.grade.casefile import case_file
from proctor.grade.collateral import grade_collateral
from proctor.grade.keys import Key, read_key, required
from proctor.grade.model import Evidence, Grade
from proctor.grade.note import grade_note
from proctor.grade.outcome import grade_links, grade_outcome
from proctor.grade.process import grade_process
from proctor.suite.layout import Layout

__all__ = ["KEY_GRADERS", "grade_all"]


def _key(e: Evidence) -> Key:
    """The key; where it doesn't name its case, the case's own id is meant. Raises ``SuiteError``."""
    key = read_key(e.key if e.key is not None else {})
    return msgspec.structs.replace(key, case_id=e.case["id"]) if key.case_id is UNSET else key


def _note(e: Evidence, layout: Layout | None) -> Grade:
    key = _key(e)
    return grade_note(case_file(e.after, key, layout).note, required(key.note_facts, "note_facts"))


KEY_GRADERS: Mapping[str, Callable[[Evidence, Layout | None], Grade]] = {
    "outcome": lambda e, layout: grade_outcome(e.after, _key(e), layout),
    "process": lambda e, layout: grade_process(e.steps, _key(e), layout),
    "links": lambda e, layout: grade_links(e.after, _key(e), layout),
    "note": _note,
    "collateral": lambda e, layout: grade_collateral(e.before, e.after, _key(e)),
}


def grade_all(evidence: Evidence, layout: Layout | None) -> list[Grade]:
    """All five, in this order."""
    return [grade(evidence, layout) for grade in KEY_GRADERS.values()]
