"""The ``[records]`` section of ``suite.toml``: what rows of cases and of recorded results look like, and how a
result is judged. Values only; frozen, strict, unknown keys refused.

Left out: the types that the sections compile to (``suite.record_types``), judging (``grade.records``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

__all__ = ["FIRST_LABELS", "Action", "LabelSpec", "PolicyRule", "RecordContract", "RecordsSpec"]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Label = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e12)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e12)]

FIRST_LABELS = ("missing", "schema", "execution")
"""Labels that every suite of records has, before its own: no result, a result of the wrong shape, a failed run."""


class Action(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something an agent did or may do: a tool on a target."""

    tool: Name
    target: Name


class RecordContract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a cell's agent may do. Every row's ``allowed`` must say the same, so that one edited row can't allow
    more. ``per_row`` leaves it to each row instead."""

    allowed: tuple[Action, ...] = ()
    per_row: bool = False


class PolicyRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where every field named in ``when`` has its value (or one of a list of values), the expected answer has the
    values in ``gives``, and null in the fields named in ``null``. The first rule that fits decides."""

    when: dict[str, Any] = {}
    gives: dict[str, Any] = {}
    null: tuple[Name, ...] = ()


class LabelSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A failure label: which grader gives it, over which fields of the answer, and who repairs what it names.

    ``grader`` is ``exact``, ``number``, ``set``, ``includes``, ``text``, ``citations``, ``allowed-actions``,
    ``budget``, ``plugin:NAME`` (an installed entry point) or ``file.py:function`` in the suite's folder.
    ``tolerance`` (in the field's unit) and ``relative`` (a share of the expected value) are for ``number``; ``read``
    is the tool whose action on a cited target backs the citation. A ``critical`` label blocks whatever the rates say.
    """

    name: Label
    grader: Name
    owner: Name
    meaning: str = ""
    fields: tuple[Name, ...] = ()
    tolerance: NotNegative | None = None
    relative: Share | None = None
    read: Name | None = None
    critical: bool = False


class RecordsSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[records]``. ``version`` stands in every row. ``input`` and ``answer`` are fields and their types.

    ``usage`` names the figures of a result (``int`` or ``number``, from 0 to 10^12); their limits are in each row's
    ``budget``, or for all rows in ``budget`` here. ``traffic`` gives the slices' real shares. ``owners`` says who
    repairs the labels that every suite has. One suite that ships is the ``default`` of ``proctor score``.
    """

    version: Name
    slices: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=1000)]
    input: dict[str, Any]
    answer: Annotated[dict[str, Any], msgspec.Meta(min_length=1)]
    label: Annotated[tuple[LabelSpec, ...], msgspec.Meta(min_length=1, max_length=24)]
    grader_version: Name = "strict-v1"
    policy: tuple[PolicyRule, ...] = ()
    contract: RecordContract | None = None
    usage: dict[str, Literal["int", "number"]] = {}
    budget: dict[str, Positive] | None = None
    traffic: dict[str, Share] | None = None
    owners: dict[str, Name] = {}
    default: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels in the order in which a cell's failures are listed."""
        return (*FIRST_LABELS, *(label.name for label in self.label))

    @property
    def rows_have_budgets(self) -> bool:
        """Whether each row carries its own limits."""
        return bool(self.usage) and self.budget is None
