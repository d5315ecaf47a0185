"""The basic scorer: figures on a final state, from counts. Pure.

It answers one question: does the table that was left behind equal the table that was expected? What happened on
the way there (retries, honesty, stability over cycles) can't be seen in a final state and is listed as
``external_checks_required``. Reading and counting are in ``final_state_files``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from proctor.kinds import Verdict

__all__ = ["EXTERNAL_CHECKS", "FinalState", "TableCounts", "score_counts"]

EXTERNAL_CHECKS: Final = (
    "recovery",
    "error_honesty",
    "cycle_stability",
    "event_log_completeness",
    "write_access_isolation",
    "evaluator_injection_isolation",
    "fresh_hidden_control",
    "escrow_observation",
    "red_team",
)
"""What a full verdict needs besides: evidence that no final state holds."""

_SCOPE: Final = (
    "Covers the final state alone (completeness, precision, uniqueness, field_accuracy, order_correctness); "
    "does not cover " + ", ".join(EXTERNAL_CHECKS[:-1]) + " or " + EXTERNAL_CHECKS[-1] + "."
)
_TOLERANCE: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """What can be counted in one table: data rows, rows whose id is empty or absent, distinct other ids."""

    rows: int
    blank: int
    ids: int

    @property
    def has_repeats(self) -> bool:
        """Whether an id that is not empty stands in more than one row."""
        return self.rows - self.blank > self.ids


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalState:
    """The figures, each between 0 and 1, and what follows from them."""

    completeness: float
    precision: float
    uniqueness: float
    field_accuracy: float
    order_correctness: float
    configuration_errors: tuple[str, ...]

    @property
    def product(self) -> float:
        """``Perf_shadow_final_state``: the product of the five."""
        return self.completeness * self.precision * self.uniqueness * self.field_accuracy * self.order_correctness

    @property
    def is_pass(self) -> bool:
        """All five equal 1 within 1e-12, and the expected table is usable."""
        figures = (
            self.completeness,
            self.precision,
            self.uniqueness,
            self.field_accuracy,
            self.order_correctness,
        )
        return not self.configuration_errors and all(abs(figure - 1) <= _TOLERANCE for figure in figures)

    @property
    def verdict(self) -> Verdict:
        """PASS, BLOCK, or INVALID when the expected table has configuration errors."""
        if self.configuration_errors:
            return Verdict.INVALID
        return Verdict.PASS if self.is_pass else Verdict.BLOCK

    def to_dict(self) -> dict[str, Any]:
        """The published object, keys in their published order. ``pilot_pass`` is null: this can't decide it."""
        return {
            "scorer_scope": _SCOPE,
            "completeness": self.completeness,
            "precision": self.precision,
            "uniqueness": self.uniqueness,
            "field_accuracy": self.field_accuracy,
            "order_correctness": self.order_correctness,
            "configuration_errors": list(self.configuration_errors),
            "Perf_shadow_final_state": self.product,
            "scorer_pass": self.is_pass,
            "pilot_pass": None,
            "external_checks_required": list(EXTERNAL_CHECKS),
        }


def score_counts(
    expected: TableCounts,
    candidate: TableCounts,
    *,
    shared_ids: int,
    fields_correct: int,
    fields_total: int,
    is_same_sequence: bool,
) -> FinalState:
    """Figures from counts.

    ``shared_ids``: distinct non-empty ids in both tables. ``fields_total``: distinct non-empty expected ids times
    the expected columns besides the id; ``fields_correct``: those that the candidate's last row of that id has as
    well, as text. ``is_same_sequence``: the id columns are equal from top to bottom; nothing equals
    nothing without being in order. A share of nothing is 0.
    """
    errors = []
    if not expected.rows:
        errors.append("expected set is empty")
    if expected.blank:
        errors.append("expected set contains an empty file_id")
    if expected.has_repeats or expected.blank > 1:
        errors.append("expected set contains duplicate file_id values")
    return FinalState(
        completeness=_share(shared_ids, expected.ids),
        precision=_share(shared_ids, candidate.ids),
        uniqueness=0.0 if candidate.blank or candidate.has_repeats else 1.0,
        field_accuracy=_share(fields_correct, fields_total),
        order_correctness=1.0 if is_same_sequence and expected.rows else 0.0,
        configuration_errors=tuple(errors),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
