"""Holdouts: each use of one is counted in the workspace's log, and past its budget it is spent.

What makes a dataset a holdout is its content (the digest of its rows), so that another name or place is no new start.
Left out: making the split (``suite.split``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from proctor.clock import Clock
from proctor.errors import Place, UsageError
from proctor.ledger.entries import HoldoutSet, HoldoutUsed
from proctor.ledger.keys import Signer
from proctor.ledger.reader import is_open, read_log
from proctor.ledger.workspace import WORKSPACE_LOG, add_to_workspace

__all__ = ["SPLIT_FILE", "HoldoutState", "SplitFile", "count_use", "declare_holdout", "holdout_state"]

SPLIT_FILE = "split.json"
_LONGEST_NAME = 200


class HoldoutState(msgspec.Struct, frozen=True, kw_only=True):
    """How often a holdout was used, of how often it may be."""

    uses: int
    budget: int

    @property
    def spent(self) -> bool:
        """Whether it was used more often than it may be: its figures no longer speak for unseen cases."""
        return self.uses > self.budget

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a report."""
        return {"uses": self.uses, "budget": self.budget, "spent": self.spent}


class SplitFile(msgspec.Struct, frozen=True, kw_only=True):
    """``split.json`` beside the two parts of a dataset: how they were made."""

    v: int
    salt: str
    holdout_share: float
    budget: int
    source_sha256: str
    development_sha256: str
    holdout_sha256: str
    groups: dict[str, int]
    cases: dict[str, int]


def holdout_state(workspace: Path, sha256: str) -> HoldoutState | None:
    """What the workspace's log says of a dataset; None where it is no holdout there. Raises ``EvidenceError``."""
    budget: int | None = None
    uses = 0
    folder = workspace / WORKSPACE_LOG
    for record in read_log(folder) if is_open(folder) else ():
        entry = record.entry
        if isinstance(entry, HoldoutSet) and entry.datasetSha256 == sha256:
            budget = entry.budget if budget is None else min(budget, entry.budget)
        elif isinstance(entry, HoldoutUsed) and entry.datasetSha256 == sha256:
            uses += 1
    return None if budget is None else HoldoutState(uses=uses, budget=budget)


def declare_holdout(workspace: Path, sha256: str, budget: int, *, signer: Signer, clock: Clock) -> None:
    """Write into the workspace's log that a dataset is a holdout. Declared twice, the smaller budget holds."""
    workspace.mkdir(parents=True, exist_ok=True)
    add_to_workspace(workspace, HoldoutSet(budget=budget, datasetSha256=sha256), signer=signer, clock=clock)


def count_use(
    workspace: Path, dataset: Path, sha256: str, candidate: str, *, signer: Callable[[], Signer], clock: Clock
) -> HoldoutState | None:
    """Count a use of a holdout, and say where that leaves it; None where the dataset is none.

    Raises ``UsageError`` for a holdout whose workspace is another: a use that isn't counted is not allowed.
    """
    if holdout_state(workspace, sha256) is None:
        _refuse_foreign(workspace, dataset, sha256)
        return None
    entry = HoldoutUsed(candidate=candidate[:_LONGEST_NAME], datasetSha256=sha256)
    add_to_workspace(workspace, entry, signer=signer(), clock=clock)
    return holdout_state(workspace, sha256)


def _refuse_foreign(workspace: Path, dataset: Path, sha256: str) -> None:
    path = dataset.absolute().parent / SPLIT_FILE
    if not path.is_file():
        return
    try:
        split = msgspec.json.decode(path.read_bytes(), type=SplitFile)
    except msgspec.MsgspecError:
        return
    if split.holdout_sha256 == sha256:
        raise UsageError(
            "this dataset is a holdout, and this workspace doesn't count its uses",
            place=Place(str(dataset)),
            expected=f"the workspace in which it was split off; {workspace} isn't it",
            fix="name it with --workspace",
            code="foreign_holdout",
        )
