"""The planned cells as arrays, each with how it ended, so that a rule is one pass over numbers.

The plan fixes the board: a planned cell without a result is ``missing``; a result that was never planned, or
that comes twice, is broken evidence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from proctor.errors import EvidenceError, Place
from proctor.gate.cells import CellResult, PlannedCell
from proctor.kinds import Outcome

__all__ = ["Board", "BoolArray", "CellBoard", "Codes", "lay_out"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """A name a cell as numbers: ``of[i]`` indexes ``names``, −1 where the cell has no such name."""

    names: tuple[str, ...]
    of: npt.NDArray[np.intp]

    def where(self, name: str) -> BoolArray:
        """The cells of that name."""
        if name not in self.names:
            return np.zeros(self.of.shape, dtype=np.bool_)
        return np.asarray(self.of == self.names.index(name), dtype=np.bool_)


class Board(Protocol):
    """All planned cells in the plan's order, whatever they are kept in; every array has shape ``(cells,)``."""

    @property
    def passed(self) -> BoolArray:
        """The cells that passed."""

    @property
    def unresolved(self) -> BoolArray:
        """The cells that ended in an infrastructure or grader error."""

    @property
    def slices(self) -> Codes:
        """Each cell's slice."""

    @property
    def cases(self) -> Codes:
        """Each cell's case."""

    @property
    def clusters(self) -> npt.NDArray[np.intp]:
        """Each cell's cluster, numbered from 0 to ``n_clusters`` − 1."""

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""

    @property
    def n_cells(self) -> int:
        """How many cells are planned."""

    @property
    def received(self) -> int:
        """How many cells have a result."""

    def cell_name(self, index: int) -> str:
        """``CASE/RUN``."""

    def marked(self, what: str) -> BoolArray:
        """The cells that end in this outcome or carry this code; one without a dot also stands for the suites'
        codes of that name."""

    def critical(self) -> tuple[BoolArray, list[str]]:
        """The cells with a critical code, and those codes."""

    def shares(self, metric: str) -> Sequence[tuple[int, int] | None]:
        """Each cell's numerator and denominator of a metric, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class CellBoard:
    """A board of one result object a cell.

    ``results[i]`` is None where nothing came back. ``coded`` lists the cells of each reason code, critical
    ones too, and of each outcome but passed.
    """

    planned: Sequence[PlannedCell]
    results: Sequence[CellResult | None]
    passed: BoolArray
    unresolved: BoolArray
    slices: Codes
    cases: Codes
    clusters: npt.NDArray[np.intp]
    n_clusters: int
    coded: Mapping[str, list[int]]

    @property
    def n_cells(self) -> int:
        """How many cells are planned."""
        return len(self.planned)

    @property
    def received(self) -> int:
        """How many cells have a result."""
        return sum(result is not None for result in self.results)

    def cell_name(self, index: int) -> str:
        """``CASE/RUN``."""
        return self.planned[index].cell

    def marked(self, what: str) -> BoolArray:
        """The cells that end in this outcome or carry this code."""
        at = np.zeros(len(self.planned), dtype=np.bool_)
        suffix = "." + what
        for code, cells in self.coded.items():
            if code == what or ("." not in what and code.endswith(suffix)):
                at[cells] = True
        return at

    def critical(self) -> tuple[BoolArray, list[str]]:
        """The cells with a critical code, and those codes."""
        at = np.fromiter(
            (bool(r is not None and r.critical) for r in self.results), dtype=np.bool_, count=len(self.results)
        )
        return at, sorted({code for r in self.results if r is not None for code in r.critical})

    def shares(self, metric: str) -> list[tuple[int, int] | None]:
        """Each cell's numerator and denominator of a metric, or None."""
        return [result.metrics.get(metric) if result is not None else None for result in self.results]


def lay_out(planned: Sequence[PlannedCell], cells: Iterable[CellResult]) -> CellBoard:
    """Match results to the plan. Raises ``EvidenceError`` for a cell planned twice, not planned, or given
    twice.
    """
    index: dict[tuple[str, int], int] = {}
    for position, cell in enumerate(planned):
        if index.setdefault((cell.case, cell.run), position) != position:
            raise EvidenceError(
                "the plan names a cell twice", place=Place(field=cell.cell), expected="each case and run once"
            )
    results: list[CellResult | None] = [None] * len(planned)
    for result in cells:
        _place(result, index, planned, results)
    cases, case_of = _number([cell.case for cell in planned])
    slices, slice_of = _number([cell.slice for cell in planned])
    clusters, cluster_of = _number([("g", c.group) if c.group is not None else ("c", c.case) for c in planned])
    outcomes = [Outcome.MISSING if r is None else r.outcome for r in results]
    return CellBoard(
        planned=planned,
        results=results,
        passed=np.fromiter((o is Outcome.PASSED for o in outcomes), dtype=np.bool_, count=len(outcomes)),
        unresolved=np.fromiter((o.is_unresolved for o in outcomes), dtype=np.bool_, count=len(outcomes)),
        slices=Codes(tuple(str(name) for name in slices), slice_of),
        cases=Codes(tuple(str(name) for name in cases), case_of),
        clusters=cluster_of,
        n_clusters=len(clusters),
        coded=_coded(results, outcomes),
    )


def _coded(results: Sequence[CellResult | None], outcomes: Sequence[Outcome]) -> dict[str, list[int]]:
    coded: dict[str, list[int]] = {}
    for index, (result, outcome) in enumerate(zip(results, outcomes, strict=True)):
        if outcome is not Outcome.PASSED:
            coded.setdefault(outcome.value, []).append(index)
        if result is not None and (result.codes or result.critical):
            for code in {*result.codes, *result.critical}:
                coded.setdefault(code, []).append(index)
    return coded


def _place(
    result: CellResult,
    index: dict[tuple[str, int], int],
    planned: Sequence[PlannedCell],
    results: list[CellResult | None],
) -> None:
    position = index.get((result.case, result.run))
    if position is None or results[position] is not None:
        problem = "two results for one cell" if position is not None else "a result for a cell that was never planned"
        raise _broken(result, problem, "each planned cell once")
    cell = planned[position]
    if result.slice is not None and result.slice != cell.slice:
        raise _broken(result, "the slice isn't the planned one", repr(cell.slice), result.slice)
    if result.group is not None and result.group != cell.group:
        raise _broken(result, "the group isn't the planned one", repr(cell.group), result.group)
    if result.metrics and not all(0 <= n <= of for n, of in result.metrics.values()):
        raise _broken(result, "a metric that is no share", "0 ≤ numerator ≤ denominator", result.metrics)
    results[position] = result


def _broken(result: CellResult, problem: str, expected: str, found: object = None) -> EvidenceError:
    return EvidenceError(problem, place=Place(field=f"{result.case}/{result.run}"), expected=expected, found=found)


def _number(names: Sequence[Hashable]) -> tuple[list[Hashable], npt.NDArray[np.intp]]:
    """Numbers for names in order of first appearance; None gets −1."""
    order: dict[Hashable, int] = {}
    codes = [-1 if name is None else order.setdefault(name, len(order)) for name in names]
    return list(order), np.array(codes, dtype=np.intp)
