"""The plan: which cells there will be, fixed before any of them runs. It is what every denominator comes from.

Its bytes are canonical JSON without a time or a run's id, so that the same suite, seed and agent give the same plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from proctor._version import __version__
from proctor.codec.canonical import canonical_bytes, digest_bytes, digest_json
from proctor.errors import UsageError
from proctor.sandbox.tiers import Tier, stricter
from proctor.suite.load import Suite
from proctor.suite.model import Case

__all__ = ["Candidate", "CaseRef", "Cell", "Plan", "Selection", "case_digest", "make_plan"]


class Cell(NamedTuple):
    """One case × run; runs count from 1."""

    case_id: str
    run: int

    def __str__(self) -> str:
        return f"{self.case_id}/{self.run}"


class CaseRef(msgspec.Struct, frozen=True, kw_only=True):
    """A planned case: its id, its slice, its group (its own id where it has none) and the digest of its row."""

    id: str
    slice: str
    group: str
    digest: str


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Who is evaluated: the agent as it was named, and what identifies it. ``attested`` facts are the user's word."""

    agent: str
    digest: str
    attested: dict[str, str] = {}


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a suite's cells. Anything but the whole makes a partial plan, which can't pass."""

    cases: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.cases and not self.slices and self.limit is None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What will be run and by which rules it will be judged."""

    v: int = 1
    proctor: str
    suite: str
    suite_version: str
    suite_digest: str
    dataset_digest: str
    grader_digest: str
    gate_digest: str
    gate: dict[str, Any]
    candidate: Candidate
    seed: int
    runs: int
    cases: tuple[CaseRef, ...]
    isolation: Tier
    infrastructure_retries: int = 1
    selection: Selection = Selection()
    synthetic_only: bool = False

    def cells(self) -> Iterator[Cell]:
        """Every planned cell, by case then run."""
        for case in self.cases:
            for run in range(1, self.runs + 1):
                yield Cell(case.id, run)

    @property
    def size(self) -> int:
        """How many cells are planned."""
        return len(self.cases) * self.runs

    def to_bytes(self) -> bytes:
        """Canonical JSON."""
        return canonical_bytes(msgspec.to_builtins(self))

    @property
    def digest(self) -> str:
        """Digest of ``to_bytes``."""
        return digest_bytes(self.to_bytes())

    def world_seed(self, cell: Cell) -> str:
        """The seed of a cell's world: the same for every attempt at it, another for every other cell."""
        return f"{self.seed}/{cell}"


def make_plan(
    suite: Suite,
    cases: Sequence[Case],
    candidate: Candidate,
    *,
    gate_digest: str,
    seed: int,
    runs: int | None = None,
    isolation: Tier | None = None,
    selection: Selection | None = None,
) -> Plan:
    """A plan over a suite's cases; ``isolation`` may demand more than the suite does, never less.

    Raises ``UsageError`` if the selection leaves no cell."""
    chosen = selection or Selection()
    picked = _select(cases, chosen)
    if not picked:
        there = sorted({case.slice for case in cases})
        raise UsageError(
            "the selection leaves no case",
            expected=f"cases such as {', '.join(c.id for c in cases[:5])}; slices {', '.join(there[:10])}",
        )
    digests = {case.id: case_digest(case) for case in cases}
    return Plan(
        proctor=__version__,
        suite=suite.spec.name,
        suite_version=suite.spec.version,
        suite_digest=suite.digest,
        dataset_digest=digest_json([digests[case.id] for case in cases]),
        grader_digest=_grader_digest(suite),
        gate_digest=gate_digest,
        gate=suite.gate_values,
        candidate=candidate,
        seed=seed,
        runs=runs if runs is not None else suite.spec.runs,
        cases=tuple(CaseRef(id=c.id, slice=c.slice, group=c.group or c.id, digest=digests[c.id]) for c in picked),
        isolation=stricter(suite.spec.isolation, isolation),
        selection=chosen,
        synthetic_only=suite.spec.synthetic_only,
    )


def case_digest(case: Case) -> str:
    """The digest of a case's row, its answer key included."""
    return digest_json(msgspec.to_builtins(case))


def _select(cases: Sequence[Case], selection: Selection) -> list[Case]:
    known = {case.id for case in cases}
    for wanted in selection.cases:
        if wanted not in known:
            raise UsageError(f"the suite has no case {wanted!r}", expected=", ".join(sorted(known)[:10]), found=wanted)
    picked = [
        case
        for case in cases
        if (not selection.cases or case.id in selection.cases)
        and (not selection.slices or case.slice in selection.slices)
    ]
    return picked if selection.limit is None else picked[: selection.limit]


def _grader_digest(suite: Suite) -> str:
    """Which graders judge: their names, the suite's own code, and Proctor's version."""
    code = {
        path.relative_to(suite.folder).as_posix(): digest_bytes(path.read_bytes())
        for path in suite.files()
        if path.suffix == ".py"
    }
    return digest_json({"graders": list(suite.spec.graders), "code": code, "proctor": __version__})
