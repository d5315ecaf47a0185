"""The published result, valid or invalid. Left out: the checks that decide between the two."""

from __future__ import annotations

from typing import Any

from proctor.usage.counts import Counts, add_all
from proctor.usage.faults import AccountingError

__all__ = ["attempt_row", "invalid_result", "valid_result", "version_of"]


def version_of(manifest: Any) -> int:
    """The schema version to answer in: the manifest's where it is known, else 1."""
    version = manifest.get("schema_version") if type(manifest) is dict else None
    return version if type(version) is int and version in (1, 2) else 1


def invalid_result(error: AccountingError, version: int = 1) -> dict[str, Any]:
    """What is answered where the evidence is broken: no figure at all."""
    return {
        "schema_version": version,
        "accounting_valid": False,
        "gate_pass": False,
        "totals": None,
        "errors": [{"code": error.code, "detail": error.detail}],
    }


def valid_result(header: dict[str, Any], rows: list[dict[str, Any]], n_runs: int, n_duplicates: int) -> dict[str, Any]:
    """The published result of checked evidence.

    ``header`` holds the manifest's ``schema_version``, ``evaluation_id``, ``candidate_id``, ``provenance`` and
    ``budget``; ``rows`` come from ``attempt_row``.
    """
    rows.sort(key=lambda row: str(row["attempt_id"]))
    totals = add_all([row["totals"] for row in rows])
    failed = [row["attempt_id"] for row in rows if row["outcome"] == "failed"]
    exceeded = sorted(key for key, limit in header["budget"].items() if (totals[key] or 0) > limit)
    return {
        "schema_version": header["schema_version"],
        "accounting_valid": True,
        "gate_pass": not failed and not exceeded,
        "evaluation_id": header["evaluation_id"],
        "candidate_id": header["candidate_id"],
        "provenance": dict(header["provenance"]),
        "totals": totals,
        "attempts": rows,
        "failed_attempt_ids": failed,
        "budget_exceeded": exceeded,
        "exact_duplicates_ignored": n_duplicates,
        "counted_top_level_runs": n_runs,
        "errors": [],
    }


def attempt_row(
    *, attempt_id: str, case_id: str, replicate_id: str, retry_index: int, outcome: str, tips: list[Counts]
) -> dict[str, Any]:
    """One attempt of the result; ``tips`` are the counts of its runs, in no order."""
    return {
        "attempt_id": attempt_id,
        "case_id": case_id,
        "replicate_id": replicate_id,
        "retry_index": retry_index,
        "outcome": outcome,
        "totals": dict(tips[0]) if len(tips) == 1 else add_all(tips),
    }
