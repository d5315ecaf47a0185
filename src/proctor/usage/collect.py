"""The executor's side: attempts are registered before they start, and the list is sealed when the round ends.

A runner opens an attempt, adds each request's raw usage as the provider sent it, sets checkpoints where the run is
saved, and closes it with an outcome. ``seal`` gives the manifest and the records; ``reduce_cell`` and
``reduce_usage`` judge them per cell and over all. Left out: where raw usage comes from, and writing files.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from proctor._version import __version__
from proctor.errors import UsageError
from proctor.kinds import INTEGER_LIMIT
from proctor.usage.counts import add_all, zero_counts
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import check_plain, is_id, record_digest
from proctor.usage.providers import normalize
from proctor.usage.reduce import reduce_usage

__all__ = ["Collector", "Coverage", "OpenAttempt", "cell_manifest", "reduce_cell", "status_of", "usage_id"]

_UNKNOWN: Final = frozenset((str(Fault.INCOMPLETE_COVERAGE), str(Fault.RAW_UNKNOWN)))


class Coverage(StrEnum):
    """How it is known that no request is missing, or that it isn't. Only the first two may claim zero requests."""

    NO_NETWORK = "no_network"
    ALL_PROXIED = "all_proxied"
    UNKNOWN = "unknown"


def usage_id(text: str) -> str:
    """The text itself where it is an identity already, else one made of its SHA-256."""
    return text if is_id(text) else "x-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


@dataclass(slots=True, kw_only=True)
class OpenAttempt:
    """One registered attempt with one run. Not thread-safe."""

    attempt_id: str
    case_id: str
    replicate_id: str
    retry_index: int
    session_id: str | None
    outcome: Literal["succeeded", "failed"] | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    points: list[tuple[str, int, bool]] = field(default_factory=list)

    @property
    def run_id(self) -> str:
        """The attempt's run."""
        return f"{self.attempt_id}.run"

    def add_request(self, request_id: str, provider: str, raw_usage: Any) -> None:
        """Add one request as it happened, with the provider's usage object or None where it sent none.

        Raises ``AccountingError`` (``schema``) for an unusable id or object; whether the figures hold is judged later.
        """
        self._require_open()
        if not is_id(request_id):
            raise AccountingError(Fault.SCHEMA, "request_id: expected an id")
        check_plain(raw_usage, "raw_usage")
        try:
            counts = normalize(provider, raw_usage)
        except AccountingError:
            counts = {**zero_counts(), "requests": 1}  # the reducer finds the same fault again and gives no total
        raw = copy.deepcopy(raw_usage)
        self.requests.append({"request_id": request_id, "provider": provider, "raw_usage": raw, "normalized": counts})

    def checkpoint(self) -> None:
        """Note that the run was saved here: what was spent so far is a snapshot of its own."""
        self._require_open()
        self.points.append(("checkpoint", len(self.requests), True))

    def close(self, outcome: Literal["succeeded", "failed"], coverage: Coverage) -> None:
        """End the attempt. ``coverage`` says how it is known that every request was added."""
        self._require_open()
        self.outcome = outcome
        self.points.append((outcome, len(self.requests), coverage is not Coverage.UNKNOWN))

    def _require_open(self) -> None:
        if self.outcome is not None:
            raise UsageError("the attempt is closed already", found=self.attempt_id)


class Collector:
    """The attempts of one run of a plan, as its executor sees them. Not thread-safe."""

    def __init__(
        self,
        *,
        evaluation_id: str,
        candidate_id: str,
        adapter: str = "proctor.runner",
        sdk_version: str = "",
        budget_tokens: int | None = None,
        budget_requests: int | None = None,
    ) -> None:
        """No budget is written as the largest exact integer, which nothing exceeds."""
        self._head = {"evaluation_id": usage_id(evaluation_id), "candidate_id": usage_id(candidate_id)}
        self._provenance = {
            "adapter": adapter,
            "collector_version": f"proctor {__version__}",
            "data_origin": "collector_capture",
            "sdk_version": sdk_version,
        }
        self._budget = {
            "total_tokens": INTEGER_LIMIT if budget_tokens is None else budget_tokens,
            "requests": INTEGER_LIMIT if budget_requests is None else budget_requests,
        }
        self._version = 1 if adapter == "openai.responses" else 2
        self._attempts: list[OpenAttempt] = []
        self._is_sealed = False

    def open_attempt(self, case_id: str, replicate_id: str, *, session_id: str | None = None) -> OpenAttempt:
        """Register the next attempt at a case and replicate, before it starts."""
        if self._is_sealed:
            raise UsageError("the list of attempts is sealed", fix="register every attempt before sealing")
        case, replicate = usage_id(case_id), usage_id(replicate_id)
        index = sum(1 for item in self._attempts if (item.case_id, item.replicate_id) == (case, replicate))
        attempt = OpenAttempt(
            attempt_id=f"attempt-{len(self._attempts)}",
            case_id=case,
            replicate_id=replicate,
            retry_index=index,
            session_id=None if session_id is None else usage_id(session_id),
        )
        self._attempts.append(attempt)
        return attempt

    def seal(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Close the list: the manifest and the records. An attempt that was never closed failed with unknown usage."""
        for attempt in self._attempts:
            if attempt.outcome is None:
                attempt.close("failed", Coverage.UNKNOWN)
        self._is_sealed = True
        records = [record for attempt in self._attempts for record in self._records(attempt)]
        keys = ("checkpoint_id", "run_id", "parent_checkpoint_id", "sequence", "state")
        checkpoints = [
            {**{key: record[key] for key in keys}, "record_sha256": record_digest(record)} for record in records
        ]
        manifest = {
            "schema_version": self._version,
            **self._head,
            "attempt_set_closed": True,
            "budget": dict(self._budget),
            "provenance": dict(self._provenance),
            "attempts": [self._attempt_row(attempt) for attempt in self._attempts],
            "runs": [
                {
                    "run_id": attempt.run_id,
                    "attempt_id": attempt.attempt_id,
                    "session_id": attempt.session_id,
                    "terminal_checkpoint_id": f"{attempt.run_id}.{len(attempt.points) - 1}",
                }
                for attempt in self._attempts
            ],
            "checkpoints": checkpoints,
        }
        return manifest, records

    def _attempt_row(self, attempt: OpenAttempt) -> dict[str, Any]:
        keys = ("attempt_id", "case_id", "replicate_id", "retry_index", "outcome")
        return {**{key: getattr(attempt, key) for key in keys}, "run_ids": [attempt.run_id]}

    def _records(self, attempt: OpenAttempt) -> list[dict[str, Any]]:
        records = []
        for number, (state, n_requests, is_covered) in enumerate(attempt.points):
            evidence = attempt.requests[:n_requests]
            usage = add_all([zero_counts(), *(request["normalized"] for request in evidence)])
            records.append(
                {
                    "schema_version": self._version,
                    **self._head,
                    "case_id": attempt.case_id,
                    "replicate_id": attempt.replicate_id,
                    "attempt_id": attempt.attempt_id,
                    "run_id": attempt.run_id,
                    "session_id": attempt.session_id,
                    "checkpoint_id": f"{attempt.run_id}.{number}",
                    "parent_checkpoint_id": f"{attempt.run_id}.{number - 1}" if number else None,
                    "sequence": number,
                    "state": state,
                    "boundary": "top_level",
                    "coverage_complete": is_covered,
                    "usage": usage,
                    "request_evidence": evidence,
                }
            )
        return records


def cell_manifest(
    manifest: dict[str, Any], case_id: str, replicate_id: str, budget: dict[str, int] | None = None
) -> dict[str, Any]:
    """The part of a manifest that belongs to one cell, with the cell's own budget (default: the manifest's)."""
    cell = (usage_id(case_id), usage_id(replicate_id))
    attempts = [item for item in manifest["attempts"] if (item["case_id"], item["replicate_id"]) == cell]
    run_ids = {run_id for attempt in attempts for run_id in attempt["run_ids"]}
    return {
        **manifest,
        "budget": dict(manifest["budget"] if budget is None else budget),
        "attempts": attempts,
        "runs": [run for run in manifest["runs"] if run["run_id"] in run_ids],
        "checkpoints": [point for point in manifest["checkpoints"] if point["run_id"] in run_ids],
    }


def reduce_cell(
    manifest: dict[str, Any],
    records: list[dict[str, Any]],
    case_id: str,
    replicate_id: str,
    budget: dict[str, int] | None = None,
) -> dict[str, Any]:
    """The published result over one cell's attempts alone; broken evidence elsewhere doesn't touch it."""
    part = cell_manifest(manifest, case_id, replicate_id, budget)
    run_ids = {run["run_id"] for run in part["runs"]}
    return reduce_usage(part, [record for record in records if record["run_id"] in run_ids])


def status_of(result: dict[str, Any]) -> Literal["verified", "unknown", "invalid"]:
    """Whether a result gives figures, lacks them because nobody knows them, or rests on broken evidence."""
    if result["accounting_valid"]:
        return "verified"
    return "unknown" if result["errors"][0]["code"] in _UNKNOWN else "invalid"
