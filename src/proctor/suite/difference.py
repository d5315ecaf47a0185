"""What changed from one version of a dataset to the next: cases added, removed, edited, relabelled. Pure.

A relabel must say why: the newer sidecar holds its reason, with the annotator. Works on rows of any suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.suite.meta import CaseMeta

__all__ = ["DatasetDifference", "Edited", "Relabelled", "difference"]

_ANSWER_KEY = ("expected", "answer", "expect", "key")
_NOTHING = CaseMeta(id="none")


class Relabelled(msgspec.Struct, frozen=True, kw_only=True):
    """A case whose answer key changed. ``reason`` is None where nobody gave one for exactly this change."""

    id: str
    before: Any
    after: Any
    reason: str | None
    annotator: str | None
    review: str


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """A case of which something else changed: the names of the fields."""

    id: str
    fields: tuple[str, ...]


class DatasetDifference(msgspec.Struct, frozen=True, kw_only=True):
    """All differences, each list by case id. ``disputed`` cases of the newer version may not count as truth."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[Edited, ...]
    relabelled: tuple[Relabelled, ...]
    disputed: tuple[str, ...]

    @property
    def unexplained(self) -> tuple[str, ...]:
        """Relabelled cases without a reason."""
        return tuple(change.id for change in self.relabelled if change.reason is None)

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return not (self.added or self.removed or self.edited or self.relabelled)


def difference(
    old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]], meta: Mapping[str, CaseMeta]
) -> DatasetDifference:
    """From rows by id to rows by id; ``meta`` is the newer version's sidecar."""
    both = sorted(old.keys() & new.keys())
    relabelled, edited = [], []
    for case in both:
        before, after = _key(old[case]), _key(new[case])
        if not _same(before, after):
            relabelled.append(_relabelled(case, before, after, meta.get(case, _NOTHING)))
        names = sorted((old[case].keys() | new[case].keys()) - set(_ANSWER_KEY))
        fields = tuple(n for n in names if not _same(old[case].get(n, ...), new[case].get(n, ...)))
        if fields:
            edited.append(Edited(id=case, fields=fields))
    return DatasetDifference(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        edited=tuple(edited),
        relabelled=tuple(relabelled),
        disputed=tuple(sorted(case for case in new if meta.get(case, _NOTHING).review == "disputed")),
    )


def _key(row: Mapping[str, Any]) -> Any:
    """A row's answer key: the value itself where it has one field."""
    parts = {name: row[name] for name in _ANSWER_KEY if name in row}
    return next(iter(parts.values())) if len(parts) == 1 else parts


def _same(left: Any, right: Any) -> bool:
    """Equal in value and type at every depth: true is not 1, 4 is not 4.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _relabelled(case: str, before: Any, after: Any, meta: CaseMeta) -> Relabelled:
    """The chain of reasons must lead from what stood there to what stands there now; the last one is shown."""
    at, chain = before, []
    for relabel in meta.relabels:
        if _same(relabel.before, at):
            at = relabel.after
            chain.append(relabel)
    explained = bool(chain) and _same(at, after)
    return Relabelled(
        id=case,
        before=before,
        after=after,
        reason=chain[-1].reason if explained else None,
        annotator=chain[-1].annotator if explained else None,
        review=meta.review,
    )
