"""The ``[records]`` section of a suite: every mistake in it, and its gate where the suite has nothing to run."""

from __future__ import annotations

import msgspec

from proctor.checking.model import Mistakes
from proctor.checking.read import Draft
from proctor.codec.models import convert
from proctor.errors import InputError, Place
from proctor.gate.policy import Known, parse_policy
from proctor.grade.records import RecordProgram
from proctor.suite.gather import gather
from proctor.suite.records import RecordsSpec

__all__ = ["check_record_gate", "check_record_section"]


def check_record_section(draft: Draft, mistakes: Mistakes) -> None:
    """Types that exist, names that are there, a policy that gives what an answer can hold."""
    spec = draft.spec.records
    if spec is None:
        return

    def read(values: dict[str, object]) -> RecordProgram:
        section = convert(values, RecordsSpec, place=lambda field: draft.place(f"records.{field}"))
        return RecordProgram.compile(section, draft.place)

    def field(error: InputError) -> str:
        path = error.place.field if error.place and error.place.field else ""
        return path.removeprefix("records.")

    _, found = gather(msgspec.to_builtins(spec), read, field)
    for error in found:
        mistakes.take(error, fix="mend the section")


def check_record_gate(draft: Draft, mistakes: Mistakes) -> None:
    """The gate names labels and slices that the suite has. What a candidate's chance is depends on the dataset."""
    spec = draft.spec.records
    if spec is None or not draft.suite.gate_values:
        return
    known = Known(codes=[*spec.labels, "grader_error"], slices=spec.slices, metrics=())
    _, found = gather(
        draft.suite.gate_values,
        lambda values: parse_policy(values, Place("gate"), known=known),
        lambda error: error.place.field if error.place and error.place.field else "",
    )
    for error in found:
        path = error.place.field if error.place and error.place.field else ""
        mistakes.take(error, draft.suite.gate_place(path), fix="mend the rule")
