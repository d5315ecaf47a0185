"""Where a world keeps what graders of cases look at: a small declarative map from words to tables and columns.

The same graders so serve worlds that name things differently. Left out: reading a state (``grade.casefile``).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

__all__ = ["Layout", "ListPlace", "NamePlace"]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class ListPlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A list that belongs to a case, as rows of a table: ``subject`` is the column that names the case, ``value`` the
    one with the item or the other case, ``kind`` the one with a link's kind."""

    table: Name
    subject: Name
    value: Name
    kind: Name | None = None


class NamePlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column whose values are the names that may be used, such as those of the queues."""

    table: Name
    column: Name


class Layout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[layout]`` of ``suite.toml``, or ``layout`` of a key.

    ``table`` holds one row a case, named by ``id``. ``outstanding`` and ``links`` are either a column of that row
    (a JSON list; of links with ``kind`` and ``target``) or rows of another table. ``statuses`` are all that there
    are. Process checks must come before ``route_action``; where ``actions`` is given, any other action is unknown.
    """

    table: Name
    id: Name = "id"
    status: Name = "status"
    queue: Name = "queue"
    note: Name = "note"
    outstanding: Name | ListPlace = "outstanding"
    links: Name | ListPlace = "links"
    queues: NamePlace | None = None
    statuses: tuple[Name, ...] = ("new", "awaiting_documents", "complete", "rejected")
    complete_status: Name = "complete"
    incomplete_status: Name = "awaiting_documents"
    link_kinds: tuple[Name, ...] = ("duplicate_of", "prior_case")
    duplicate_kind: Name = "duplicate_of"
    prior_kind: Name = "prior_case"
    route_action: Name = "route_case"
    actions: tuple[Name, ...] = ()
