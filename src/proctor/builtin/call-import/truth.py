"""The answer key as values: each file's truth and its place in the right order. No name is parsed here or anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grammar import FIELDS


@dataclass(frozen=True, kw_only=True)
class FileTruth:
    """What is true of one file. ``fault``: why it is inadmissible, or None. ``rank``: its place in the right order."""

    file_id: str
    rank: int
    fault: str | None
    due: int
    deadline: int
    fields: Mapping[str, Any]
    local: Mapping[str, str]
    started_utc: str
    created_local: Mapping[str, str]
    created_utc: str
    hostile: str | None
    plain_peer: str | None

    @property
    def admissible(self) -> bool:
        """Whether it must be imported."""
        return self.fault is None

    def expected(self, zone_version: str) -> dict[str, Any]:
        """The mandatory fields of its row, if first confirmed under this zone."""
        values = {**self.fields, "started_local": self.local[zone_version]}
        return {name: values[name] for name in FIELDS}


@dataclass(frozen=True, kw_only=True)
class Truth:
    """All files by id, in the order in which rows belong."""

    files: Mapping[str, FileTruth]
    cycles: int
    foreign_texts: frozenset[str]

    @property
    def admissible(self) -> list[FileTruth]:
        """Files that must be imported, in order."""
        return [file for file in self.files.values() if file.admissible]

    @property
    def inadmissible(self) -> list[FileTruth]:
        """Files that must not be."""
        return [file for file in self.files.values() if not file.admissible]


def read_truth(key: Mapping[str, Any], cycles: int) -> Truth:
    """The key of a case of this many cycles."""
    files = {
        row["file_id"]: FileTruth(
            file_id=row["file_id"],
            rank=rank,
            fault=row["fault"],
            due=row["due"],
            deadline=min(row["due"] + 1, cycles),
            fields=row["fields"],
            local=row["local"],
            started_utc=row["started_utc"],
            created_local=row["created_local"],
            created_utc=row["created_utc"],
            hostile=row["hostile"],
            plain_peer=row["plain_peer"],
        )
        for rank, row in enumerate(key["files"])
    }
    return Truth(files=files, cycles=cycles, foreign_texts=frozenset(key["foreign_texts"]))
