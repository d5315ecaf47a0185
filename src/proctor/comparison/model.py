"""What a comparison takes and what it gives, as values.

``ScoredGrid`` is the seam: a runner's result, a scored report, a spreadsheet or a data frame becomes one of
these.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from proctor.gate.cells import PlannedCell
from proctor.kinds import Verdict
from proctor.stats.cluster import CannotTell, Interval
from proctor.stats.estimate import RateEstimate
from proctor.stats.paired import Difference, McNemar

__all__ = [
    "CaseChange",
    "CaseTable",
    "Comparison",
    "Costs",
    "Flips",
    "Identity",
    "Outlook",
    "PlanRules",
    "RunLabel",
    "ScoredCell",
    "ScoredGrid",
    "Side",
    "SliceDifference",
]

RunLabel: TypeAlias = int | str


class ScoredCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as one candidate left it.

    ``value`` is 1 for passed, 0 for failed, a score between, or None where nobody knows how the cell ended.
    ``unresolved`` is an infrastructure or grader error: also bounded both ways, whatever ``value`` says.
    """

    case: str
    run: RunLabel
    value: float | None
    unresolved: bool = False
    missing: bool = False
    slice: str | None = None
    group: str | None = None
    tokens: float | None = None
    cost_usd: float | None = None
    codes: tuple[str, ...] = ()


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What must agree before two grids can be compared (but ``plan``); None where a file doesn't say.

    ``cells`` says which cells were planned. ``plan`` is the digest of the plan, which names the candidate
    too.
    """

    dataset: str | None = None
    grader: str | None = None
    rules: str | None = None
    plan: str | None = None
    cells: str | None = None


class ScoredGrid(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate's cells. ``gate`` is the verdict that its own report gives, None where it has none.

    ``margin`` is one that its registered plan declares. ``witnessed`` says that Proctor recorded how cells
    ended.
    """

    name: str
    cells: tuple[ScoredCell, ...]
    identity: Identity = Identity()
    gate: str | None = None
    margin: float | None = None
    witnessed: bool = False
    notes: tuple[str, ...] = ()


class PlanRules(msgspec.Struct, frozen=True, kw_only=True):
    """A plan given beside the files: its cells are the denominator. Runs are as the files label them."""

    cells: tuple[PlannedCell, ...]
    digest: str
    name: str = "plan"
    margin: float | None = None


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate over the planned cells: unresolved cells counted as failed (``low``) and as passed
    (``high``).
    """

    name: str
    low: RateEstimate
    high: RateEstimate
    missing: int
    unresolved: int
    unknown: int
    gate: str | None


class Flips(msgspec.Struct, frozen=True, kw_only=True):
    """Cells by what became of them. With scores between 0 and 1, fixed and broken mean rose and fell."""

    fixed: int
    broken: int
    both: int
    neither: int
    unresolved: int


class CaseChange(msgspec.Struct, frozen=True, kw_only=True):
    """A case whose cells changed: what its planned ``runs`` add up to before and after."""

    case: str
    slice: str | None
    runs: int
    before: float
    after: float
    fixed: int
    broken: int


class CaseTable(msgspec.Struct, frozen=True, kw_only=True):
    """Cases that changed, most changed first."""

    rows: tuple[CaseChange, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[CaseChange]:
        return iter(self.rows)

    def df(self) -> Any:
        """A pandas data frame. Raises ``ImportError`` where pandas isn't installed; ``rows`` needs
        nothing.
        """
        pandas = importlib.import_module("pandas")  # not a dependency: only who asks for it needs it
        return pandas.DataFrame([msgspec.to_builtins(row) for row in self.rows])


class SliceDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A slice's difference; ``adjusted_p`` over all slices that have a p-value."""

    slice: str
    difference: Difference
    before: float
    after: float
    adjusted_p: float | None


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What this plan could have shown, and what would settle the question.

    ``detectable`` is the smallest difference found in 80 of 100 such comparisons. ``needed`` counts
    independent cases (or groups) with as many runs each, if the difference seen is the true one; None where
    none would do.
    """

    detectable: float | None
    independent: int
    needed: int | None
    question: str


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """A cost over the cells where both sides know it: means, their ratio, and the mean difference's
    interval.
    """

    what: str
    cells: int
    planned: int
    before: float
    after: float
    interval: Interval | CannotTell
    per_pass_before: float | None
    per_pass_after: float | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer.

    ``verdict`` is "better", "not worse" (by more than the margin), "worse", "can't tell" or "invalid" (too
    many unresolved cells), with the exit code of the table of verdicts. ``difference`` is candidate minus
    baseline with unresolved cells against the candidate, ``difference_best`` with them in its favour; they
    agree where none is.
    """

    verdict: str
    outcome: Verdict
    baseline: Side
    candidate: Side
    planned: int
    cases: int
    clusters: int
    grouped: bool
    binary: bool
    difference: Difference
    difference_best: Difference
    margin: float | None
    margin_registered: bool
    flips: Flips
    fixed: CaseTable
    broken: CaseTable
    mcnemar: McNemar | None
    slices: tuple[SliceDifference, ...]
    worst_slice: str | None
    adjustment: str
    outlook: Outlook
    costs: tuple[Costs, ...]
    costs_note: str
    stamps: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int | None
    resamples: int | None

    @property
    def exit_code(self) -> int:
        """0 better or not worse, 1 worse, 2 invalid, 3 can't tell."""
        return self.outcome.exit_code

    @property
    def interval(self) -> Interval | CannotTell:
        """The interval of the difference, over both readings of unresolved cells."""
        low, high = self.difference.interval, self.difference_best.interval
        if isinstance(low, CannotTell) or isinstance(high, CannotTell):
            return low if isinstance(low, CannotTell) else high
        return msgspec.structs.replace(low, low=min(low.low, high.low), high=max(low.high, high.high))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        interval = self.interval
        document["outcome"] = self.outcome.name
        document["exit_code"] = self.exit_code
        document["interval"] = msgspec.to_builtins(interval)
        return document
