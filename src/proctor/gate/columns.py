"""A board kept in arrays, for grids of a million cells: each cell is a bit mask of its codes.

The same rules hold over it as over a board of objects (``gate.board``). Leaves out metrics: such cells have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proctor.gate.board import BoolArray, Codes
from proctor.kinds import Outcome

__all__ = ["ColumnBoard"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ColumnBoard:
    """Cells in the order case, then run. ``masks[i]`` has the bit ``1 << n`` where cell i carries ``codes[n]``; 0 is
    a pass. ``case_slices`` and ``case_clusters`` are numbers a case; ``missing`` and ``unresolved_code`` name the
    codes of cells without a result, and of those that nobody could grade."""

    case_ids: Sequence[str]
    repeats: int
    masks: npt.NDArray[np.uint32]
    codes: Sequence[str]
    slice_names: tuple[str, ...]
    case_slices: npt.NDArray[np.intp]
    case_clusters: npt.NDArray[np.intp]
    n_clusters: int
    critical_codes: Sequence[str] = ()
    missing: str = "missing"
    unresolved_code: str = Outcome.GRADER_ERROR.value

    @property
    def n_cells(self) -> int:
        """How many cells are planned."""
        return len(self.masks)

    @property
    def passed(self) -> BoolArray:
        """The cells without any code."""
        return np.asarray(self.masks == 0, dtype=np.bool_)

    @property
    def unresolved(self) -> BoolArray:
        """The cells that nobody could grade."""
        return self._with((self.unresolved_code,))

    @property
    def received(self) -> int:
        """How many cells have a result."""
        return self.n_cells - int(self._with((self.missing,)).sum())

    @property
    def slices(self) -> Codes:
        """Each cell's slice."""
        return Codes(self.slice_names, np.repeat(self.case_slices, self.repeats))

    @property
    def cases(self) -> Codes:
        """Each cell's case."""
        numbers = np.arange(len(self.case_ids), dtype=np.intp)
        return Codes(tuple(self.case_ids), np.repeat(numbers, self.repeats))

    @property
    def clusters(self) -> npt.NDArray[np.intp]:
        """Each cell's cluster."""
        return np.repeat(self.case_clusters, self.repeats)

    def cell_name(self, index: int) -> str:
        """``CASE/RUN``."""
        return f"{self.case_ids[index // self.repeats]}/{index % self.repeats + 1}"

    def marked(self, what: str) -> BoolArray:
        """The cells that end in this outcome or carry this code."""
        if what == Outcome.FAILED.value:
            return ~self.passed & ~self._with((self.missing, self.unresolved_code))
        names = [code for code in self.codes if code == what or ("." not in what and code.endswith("." + what))]
        return self._with(names)

    def critical(self) -> tuple[BoolArray, list[str]]:
        """The cells with a critical code, and those codes."""
        occurring = sorted(code for code in self.critical_codes if self._with((code,)).any())
        return self._with(self.critical_codes), occurring

    def shares(self, metric: str) -> list[tuple[int, int] | None]:
        """No cell has a metric."""
        return [None] * self.n_cells

    def _with(self, names: Sequence[str]) -> BoolArray:
        bits = sum(1 << number for number, code in enumerate(self.codes) if code in names)
        return np.asarray(self.masks & np.uint32(bits) != 0, dtype=np.bool_)
