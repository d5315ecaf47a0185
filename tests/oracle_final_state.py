"""The basic scorer once more, small and plain, for comparison: csv module, dictionaries, nothing clever."""

from __future__ import annotations

import csv
import io
from typing import Any


def read_plain(data: bytes) -> tuple[list[str], list[dict[str | None, Any]]]:
    """Header and rows as ``csv.DictReader`` reads them, strictly."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    return list(reader.fieldnames or []), list(reader)


def score_plain(expected: bytes, candidate: bytes) -> dict[str, Any]:
    """The figures of two tables; ``csv.Error`` where one can't be read."""
    columns, expected_rows = read_plain(expected)
    _, candidate_rows = read_plain(candidate)
    fields = [name for name in columns if name != "file_id"]
    expected_ids = [row["file_id"] or "" for row in expected_rows]
    candidate_ids = [row["file_id"] or "" for row in candidate_rows]
    want = {row["file_id"]: row for row in expected_rows if row["file_id"]}
    have = {row["file_id"]: row for row in candidate_rows if row["file_id"]}
    shared = [key for key in want if key in have]
    correct = sum(want[key][name] == have[key].get(name) for key in shared for name in fields)
    errors = []
    if not expected_ids:
        errors.append("expected set is empty")
    if "" in expected_ids:
        errors.append("expected set contains an empty file_id")
    if len(expected_ids) != len(set(expected_ids)):
        errors.append("expected set contains duplicate file_id values")
    figures = {
        "completeness": len(shared) / len(want) if want else 0.0,
        "precision": len(shared) / len(have) if have else 0.0,
        "uniqueness": float(len(candidate_ids) == len(have)),
        "field_accuracy": correct / (len(want) * len(fields)) if want and fields else 0.0,
        "order_correctness": float(bool(expected_ids) and expected_ids == candidate_ids),
    }
    product = 1.0
    for figure in figures.values():
        product *= figure
    passes = not errors and all(abs(figure - 1) <= 1e-12 for figure in figures.values())
    return {
        **figures,
        "configuration_errors": errors,
        "Perf_shadow_final_state": product,
        "scorer_pass": passes,
        "pilot_pass": None,
    }
