"""The answer key of a case that was to be taken in: a frozen model, strict, the same for every supplier.

A key may leave parts out; a grader that needs a missing part raises ``SuiteError`` instead of passing. The published
``key.schema.json`` is made of these models. Left out: whether a key fits its world (``checking.keys``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from proctor.codec.models import convert
from proctor.errors import Place, SuiteError
from proctor.suite.layout import Layout

__all__ = [
    "AllowedChange", "Check", "FactKind", "Key", "KeyLink", "NoteFact", "NoteRecord", "key_schema", "read_key",
    "required",
]  # fmt: skip

T = TypeVar("T")
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
FactKind = Literal["name", "date", "amount", "id", "status", "item"]


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that must have been made. ``args_match``: argument → the value it must have, or ``{"one_of": […]}``, or
    ``{"contains": "text"}`` (case ignored). Arguments that aren't named may be anything."""

    action: Name
    args_match: dict[str, Any] = {}


class KeyLink(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """A link from the case to another one."""

    kind: Name
    target: Name


class AllowedChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change that the task asked for: in ``table``, of rows that have the values of ``where``; ``rows`` says whether
    they may be changed, added or removed, ``columns`` which columns of a changed row (null: all)."""

    table: Name
    where: dict[str, Any] = {}
    columns: tuple[Name, ...] | None = None
    rows: tuple[Literal["changed", "added", "removed"], ...] = ("changed",)


class NoteFact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something true that a note may say, or must where ``required``.

    ``value``: of a date ``2026-11-02``, of an amount ``1250.00 EUR``, else the text itself; ``also``: other ways to
    write it. ``state`` of an item: ``present`` (it is there), ``outstanding`` (it isn't), or null (either may be
    said).
    """

    field: Name
    kind: FactKind
    value: Name
    also: tuple[Name, ...] = ()
    state: Literal["present", "outstanding"] | None = None
    required: bool = False


class NoteRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a note is held against.

    ``labels``: kind → field → words that, standing at a value of this kind, say that it is this field; a label of a
    field without a fact makes its values unsupported. ``vocabulary``: all statuses and items that exist, so that one
    which the case doesn't have is noticed; under ``words``, capitalised words that are no part of anybody's name.
    """

    facts: tuple[NoteFact, ...]
    labels: dict[FactKind, dict[Name, tuple[Name, ...]]] = {}
    vocabulary: dict[Literal["status", "item", "words"], tuple[Name, ...]] = {}


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is right for one case.

    ``case_id`` is the case's id in the world's tables. ``queue`` null: it must not be routed. ``outstanding``: items
    that must be noted as outstanding, in any order. ``do_nothing``: the start state is already right.
    ``reason_codes``: codes that a supplier's grader may give for this case; each must be registered.
    ``allowed_changes`` as text: ``"table"`` (any change in it) or ``"table.column"`` (that column of any row).
    """

    case_id: Name | UnsetType = UNSET
    status: Name | UnsetType = UNSET
    queue: Name | UnsetType | None = UNSET
    outstanding: tuple[Name, ...] | UnsetType = UNSET
    links: tuple[KeyLink, ...] | UnsetType = UNSET
    expected_checks: tuple[Check, ...] | UnsetType = UNSET
    forbidden_actions: tuple[Name, ...] = ()
    allowed_changes: tuple[AllowedChange | Name, ...] | UnsetType = UNSET
    note_facts: NoteRecord | UnsetType = UNSET
    do_nothing: bool = False
    reason_codes: tuple[Name, ...] = ()
    layout: Layout | None = None


def read_key(key: Key | Mapping[str, Any], *, place: str = "key") -> Key:
    """A key from plain values. Raises ``SuiteError`` with the field that is wrong."""
    if isinstance(key, Key):
        return key
    return convert(key, Key, place=lambda path: Place(None, None, f"{place}.{path}" if path else place))


def required(value: T | UnsetType, name: str) -> T:
    """A part of a key that a grader can't do without. Raises ``SuiteError`` where the key doesn't say it."""
    if isinstance(value, UnsetType):
        raise SuiteError(
            f"the key doesn't say what {name} must be",
            place=Place(None, None, f"key.{name}"),
            expected=f"{name!r} in the key",
            fix=f"add {name!r}, or take the grader that needs it out of graders",
            code="key_part",
        )
    return value


def key_schema() -> dict[str, Any]:
    """The JSON Schema of a key (draft 2020-12)."""
    (schema,), components = msgspec.json.schema_components((Key,), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answer key of a case",
        **schema,
        "$defs": components,
    }
