"""Chains drawn as text: how a run's total grew from checkpoint to checkpoint, so that nobody adds it up twice.

Left out: judging the chain (``reduce``); the drawing says what stands there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proctor.errors import shorten

__all__ = ["draw_chains"]


def draw_chains(manifest: dict[str, Any], records: Iterable[dict[str, Any]]) -> str:
    """One line a run: ``attempt-0 run-1: 80 → 130 tokens (2 checkpoints, 2 requests, succeeded)``.

    The documents must have been found valid; a checkpoint without a record shows as ``?``.
    """
    usage = {record["checkpoint_id"]: record["usage"] for record in records}
    points: dict[str, list[dict[str, Any]]] = {}
    for point in sorted(manifest["checkpoints"], key=lambda item: int(item["sequence"])):
        points.setdefault(point["run_id"], []).append(point)
    outcomes = {attempt["attempt_id"]: attempt["outcome"] for attempt in manifest["attempts"]}
    lines = []
    for run in sorted(manifest["runs"], key=lambda item: (str(item["attempt_id"]), str(item["run_id"]))):
        chain = points.get(run["run_id"], [])
        totals = [usage.get(point["checkpoint_id"]) for point in chain]
        steps = " → ".join("?" if total is None else str(total["total_tokens"]) for total in totals) or "?"
        last = totals[-1] if totals else None
        n_requests = "?" if last is None else last["requests"]
        ended = outcomes.get(run["attempt_id"], "?")
        lines.append(
            f"{shorten(run['attempt_id'])} {shorten(run['run_id'])}: {steps} tokens "
            f"({_number(len(chain), 'checkpoint')}, {_number(n_requests, 'request')}, {ended})"
        )
    return "\n".join(lines)


def _number(count: object, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
