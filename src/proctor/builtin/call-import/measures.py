"""The eight metrics as numerators and denominators, for the end of any cycle.

Denominators come from the answer key and the log, never from what the agent chose to look at. At the end of a cycle
the files then due are those whose deadline has come; at the end of the last one that is every file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from account import Account, Fault, Row
from grammar import FIELDS
from pairs import ordered_pairs
from truth import FileTruth, Truth

NAMES = (
    "completeness", "precision", "uniqueness", "field_accuracy", "order_correctness", "recovery", "error_honesty",
)  # fmt: skip
"""The metrics that a single moment has; ``cycle_stability`` is about the steps between moments."""

Shares = Mapping[str, tuple[int, int]]


@dataclass(kw_only=True)
class Moment:
    """The register at the end of a cycle, looked at with the truth."""

    cycle: int
    rows: tuple[Row, ...]
    by_id: dict[str, list[Row]]
    not_right: frozenset[str] | None = None


class Measures:
    """Looks at one account with the truth, and remembers what it found of each row."""

    def __init__(self, truth: Truth, account: Account) -> None:
        self.truth = truth
        self.account = account
        self.first_cycle: dict[str, int] = {}
        for cycle in account.cycles:
            for file_id in cycle.written:
                self.first_cycle.setdefault(file_id, cycle.number)
        self.first_reported: dict[str, int] = {}
        for cycle in account.cycles:
            for file_id in cycle.reported:
                self.first_reported.setdefault(file_id, cycle.number)
        self._wrong: dict[int, tuple[str, ...]] = {}
        self._moments: dict[int, Moment] = {}
        self._touched = frozenset().union(*(fault.touched for fault in account.faults))

    def moment(self, cycle: int) -> Moment:
        """The end of a cycle."""
        if cycle not in self._moments:
            rows = self.account.cycles[cycle - 1].register
            self._moments[cycle] = Moment(cycle=cycle, rows=rows, by_id=self.account.rows_of(cycle))
        return self._moments[cycle]

    def zone_of(self, file: FileTruth) -> str:
        """The zone in force when the file was first confirmed, or when it was due."""
        cycle = self.first_cycle.get(file.file_id, file.due)
        return self.account.cycles[min(cycle, self.truth.cycles) - 1].zone_version

    def wrong_fields(self, row: Row) -> tuple[str, ...]:
        """The mandatory fields of a known file's row that are not as they must be."""
        known = self._wrong.get(id(row))
        if known is None:
            file = self.truth.files[row.file_id]
            expected = file.expected(self.zone_of(file))
            known = tuple(name for name in FIELDS if not _same(row.values.get(name), expected[name]))
            self._wrong[id(row)] = known
        return known

    def shares(self, moment: Moment) -> dict[str, tuple[int, int]]:
        """Each metric of a moment."""
        due = [file for file in self.truth.admissible if file.deadline <= moment.cycle]
        return {
            "completeness": self._completeness(due),
            "precision": self._precision(moment),
            "uniqueness": (sum(len(rows) == 1 for rows in moment.by_id.values()), len(moment.by_id)),
            "field_accuracy": self._field_accuracy(due, moment),
            "order_correctness": self._order(due, moment),
            "recovery": self._recovery(moment),
            "error_honesty": self._honesty(moment),
        }

    def stability(self) -> tuple[tuple[int, int], list[tuple[int, str, Any, Any]]]:
        """``cycle_stability``, and each fall as (cycle, metric, share before, share after)."""
        falls: list[tuple[int, str, Any, Any]] = []
        before: Shares = {}
        for cycle in range(1, self.truth.cycles + 1):
            now = self.shares(self.moment(cycle))
            if before:
                falls += [(cycle, name, before[name], now[name]) for name in NAMES if _fell(before[name], now[name])]
            before = now
        steps = self.truth.cycles - 1
        return (steps - len({cycle for cycle, *_ in falls}), steps), falls

    def right_in(self, file_id: str, moment: Moment) -> bool:
        """Whether a file is as it must be: one right row, or, inadmissible, none and reported as failed."""
        file, rows = self.truth.files.get(file_id), moment.by_id.get(file_id, [])
        if file is None:
            return not rows
        if file.admissible:
            return len(rows) == 1 and not self.wrong_fields(rows[0])
        return not rows and self.first_reported.get(file_id, moment.cycle + 1) <= moment.cycle

    def unrecovered(self, fault: Fault, moment: Moment) -> list[str]:
        """The touched ids that should be right by now and aren't, sorted."""
        return sorted(fault.touched & self._not_right(moment))

    def _not_right(self, moment: Moment) -> frozenset[str]:
        """The ids that any fault touched, and that should be right at this moment and aren't."""
        if moment.not_right is None:
            due = (i for i in self._touched if self._is_due(i, moment.cycle))
            moment.not_right = frozenset(i for i in due if not self.right_in(i, moment))
        return moment.not_right

    def _is_due(self, file_id: str, cycle: int) -> bool:
        file = self.truth.files.get(file_id)
        return file is None or file.deadline <= cycle

    def _completeness(self, due: list[FileTruth]) -> tuple[int, int]:
        never = self.truth.cycles + 1
        return sum(self.first_cycle.get(file.file_id, never) <= file.deadline for file in due), len(due)

    def _precision(self, moment: Moment) -> tuple[int, int]:
        there, files = self.account.cycles[moment.cycle - 1].arrived, self.truth.files
        good = sum(
            row.file_id in there and row.file_id in files and files[row.file_id].admissible for row in moment.rows
        )
        return good, len(moment.rows)

    def _field_accuracy(self, due: list[FileTruth], moment: Moment) -> tuple[int, int]:
        right = 0
        for file in due:
            rows = moment.by_id.get(file.file_id)
            if rows:
                right += len(FIELDS) - len(self.wrong_fields(rows[-1]))
        return right, len(due) * len(FIELDS)

    def _order(self, due: list[FileTruth], moment: Moment) -> tuple[int, int]:
        wanted = {file.file_id: file.rank for file in due}
        ranks = [wanted[file_id] for file_id in moment.by_id if file_id in wanted]
        return ordered_pairs(ranks), len(due) * (len(due) - 1) // 2

    def _recovery(self, moment: Moment) -> tuple[int, int]:
        last = moment.cycle == self.truth.cycles
        faults = [f for f in self.account.faults if f.cycle < moment.cycle or (last and f.cycle == moment.cycle)]
        wrong = self._not_right(moment)
        return sum(fault.touched.isdisjoint(wrong) for fault in faults), len(faults)

    def _honesty(self, moment: Moment) -> tuple[int, int]:
        cases = [
            file for file in self.truth.inadmissible if file.due <= moment.cycle or moment.cycle == self.truth.cycles
        ]
        return sum(file.file_id not in moment.by_id for file in cases), len(cases)


def _same(found: Any, expected: Any) -> bool:
    return type(found) is type(expected) and bool(found == expected)


def _fell(before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether a share fell; one without a denominator has no value to fall from or to."""
    return before[1] > 0 and after[1] > 0 and after[0] * before[1] < before[0] * after[1]
