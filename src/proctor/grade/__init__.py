"""Pure graders: evidence in, grade out; the registry of reason codes.

The graders of a case that was to be taken in are separate functions, each usable alone.
"""

from proctor.grade.collateral import grade_collateral
from proctor.grade.note import grade_note
from proctor.grade.outcome import grade_links, grade_outcome
from proctor.grade.process import grade_process

__all__ = ["grade_collateral", "grade_links", "grade_note", "grade_outcome", "grade_process"]
