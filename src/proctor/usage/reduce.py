"""Reduce a manifest and its records to what was spent, or to the first fault.

``reduce_usage`` never raises and never changes its inputs; the order of records doesn't matter. Unknown is not zero:
broken evidence gives no partial total. Left out: reading files (``load``), money (``prices``).
"""

from __future__ import annotations

from typing import Any

from proctor.usage.fast import reduce_fast
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.manifest import check_manifest
from proctor.usage.records import check_records
from proctor.usage.result import attempt_row, invalid_result, valid_result, version_of

__all__ = ["reduce_careful", "reduce_usage"]


def reduce_usage(manifest: Any, records: Any) -> dict[str, Any]:
    """Usage of a closed manifest and its records (lists of plain JSON values).

    Returns the published result: ``accounting_valid`` with totals, attempts and budget, or ``accounting_valid`` false
    with null totals and one error ``{code, detail}``. Counts are tokens and requests.
    """
    try:
        return reduce_fast(manifest, records) or reduce_careful(manifest, records)
    except Exception as error:  # noqa: BLE001 - objects in memory may raise anything; the promise is a result
        fault = AccountingError(Fault.SCHEMA, f"not plain JSON values: {type(error).__name__}")
        return invalid_result(fault, 1)


def reduce_careful(manifest: Any, records: Any) -> dict[str, Any]:
    """The same, step by step in the published order of faults: the definition that the fast way is held to."""
    try:
        checked = check_manifest(manifest)
        if type(records) not in (list, tuple):
            raise AccountingError(Fault.SCHEMA, "records: expected a list")
        by_run, n_duplicates = check_records(checked, records)
    except AccountingError as error:
        return invalid_result(error, version_of(manifest))
    rows = [
        attempt_row(
            attempt_id=attempt["attempt_id"],
            case_id=attempt["case_id"],
            replicate_id=attempt["replicate_id"],
            retry_index=attempt["retry_index"],
            outcome=attempt["outcome"],
            tips=[by_run[run_id] for run_id in attempt["run_ids"]],
        )
        for attempt in checked.value["attempts"]
    ]
    return valid_result(checked.value, rows, len(by_run), n_duplicates)
