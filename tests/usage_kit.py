"""Builds valid pairs of manifest and records for the tests of usage."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any


def digest(record: Any) -> str:
    """Written independently of the code under test."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def request(
    request_id: str, given: int, made: int, cached: int = 0, reasoning: int = 0, **extra: Any
) -> dict[str, Any]:
    raw = {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": given + made,
        **extra,
    }
    normalized = {
        "requests": 1,
        "input_tokens": given,
        "output_tokens": made,
        "total_tokens": given + made,
        "cached_tokens": cached,
        "reasoning_tokens": reasoning,
    }
    return {"request_id": request_id, "provider": "openai.responses", "raw_usage": raw, "normalized": normalized}


def pair(
    *chains: list[list[dict[str, Any]]], failed: tuple[int, ...] = ()
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A pair with one attempt a chain; a chain lists, checkpoint by checkpoint, the requests that each one adds."""
    head = {"schema_version": 1, "evaluation_id": "eval", "candidate_id": "cand"}
    attempts, runs, points, records = [], [], [], []
    for number, chain in enumerate(chains):
        outcome = "failed" if number in failed else "succeeded"
        ids = {"case_id": f"case-{number}", "replicate_id": "r-0", "attempt_id": f"attempt-{number}"}
        attempts.append({**ids, "retry_index": 0, "outcome": outcome, "run_ids": [f"run-{number}"]})
        session = {"session_id": f"session-{number}" if number % 2 else None}
        tip = f"cp-{number}-{len(chain) - 1}"
        runs.append(
            {"run_id": f"run-{number}", "attempt_id": ids["attempt_id"], **session, "terminal_checkpoint_id": tip}
        )
        evidence: list[dict[str, Any]] = []
        for sequence, added in enumerate(chain):
            evidence = [*evidence, *copy.deepcopy(added)]
            point = {
                "checkpoint_id": f"cp-{number}-{sequence}",
                "run_id": f"run-{number}",
                "parent_checkpoint_id": f"cp-{number}-{sequence - 1}" if sequence else None,
                "sequence": sequence,
                "state": outcome if sequence == len(chain) - 1 else "checkpoint",
            }
            keys = ("requests", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "reasoning_tokens")
            usage = {key: sum(item["normalized"][key] for item in evidence) for key in keys}
            records.append(
                {**head, **ids, **session, **point, "boundary": "top_level", "coverage_complete": True, "usage": usage,
                 "request_evidence": copy.deepcopy(evidence)}
            )  # fmt: skip
            points.append({**point, "record_sha256": digest(records[-1])})
    manifest = {
        **head,
        "attempt_set_closed": True,
        "budget": {"total_tokens": 10**9, "requests": 10**6},
        "provenance": {
            "sdk_version": "1",
            "collector_version": "1",
            "adapter": "openai.responses",
            "data_origin": "synthetic_fixture",
        },
        "attempts": attempts,
        "runs": runs,
        "checkpoints": points,
    }
    return manifest, records


def usual() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two attempts: one run saved once and resumed (80 → 130), one run in a single step (50)."""
    return pair([[request("q-1", 60, 20, 5, 2)], [request("q-2", 37, 13)]], [[request("q-3", 40, 10)]])


def rehash(manifest: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Make the manifest's digests those of the records, as a forger would who holds both."""
    digests = {record["checkpoint_id"]: digest(record) for record in records}
    for point in manifest["checkpoints"]:
        point["record_sha256"] = digests.get(point["checkpoint_id"], point["record_sha256"])
