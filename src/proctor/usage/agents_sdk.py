"""Usage that the OpenAI Agents SDK reports: results, ``RunState`` files, resumes, nested agents, retries, streams.

Conventions (openai-agents 0.24, ``RunState`` schemas 1.0 to 1.21):
- the usage of a run's *context* is the run's: it holds nested ``as_tool`` agents, and every segment before a resume;
  so the last segment counts and earlier ones are inside it, and summing ``raw_responses`` misses nested calls;
- runs that merely share a session are independent and add up;
- two resumes of one state share its first segment, which counts once;
- where an exception carries no run data, the outermost task spans hold what was spent (spans inside them repeat it);
- cached tokens are inside input, reasoning inside output; ``*_details`` come as an object, a list of one, or flattened.

``sdk_reported`` is a claim: a request without figures counts as zero there, and retries inside the HTTP client don't
show. ``verified`` needs the provider's raw usage of every request, and is None where one is missing; ``RunState`` never
keeps it. Left out: importing the SDK; money.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from proctor.usage.counts import REQUIRED_COUNTS, Counts, add_all
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import canonical, check_plain, is_count
from proctor.usage.providers import detect_provider, normalize

__all__ = [
    "SCHEMA_VERSIONS",
    "SdkUsage",
    "last_of_resumes",
    "read_result",
    "read_run_state",
    "read_spans",
    "sum_of_runs",
    "union_of_branches",
]

SCHEMA_VERSIONS: Final = frozenset(f"1.{minor}" for minor in range(22))
"""The ``RunState`` schemas whose usage this reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkUsage:
    """What the SDK says was spent, what raw usage proves, and why the two may differ.

    ``entries`` are the SDK's own per-request figures, in order (possibly fewer than the requests); ``raw_usages`` the
    providers' objects, complete where ``verified`` is known.
    """

    sdk_reported: Counts | None
    verified: Counts | None
    doubts: tuple[str, ...] = ()
    entries: tuple[Any, ...] = ()
    raw_usages: tuple[dict[str, Any], ...] = ()


def read_result(value: Any) -> SdkUsage:
    """Usage of a finished run, from its plain form: ``{"context_usage": …, "raw_responses": […], "is_complete": …}``.

    ``is_complete`` is false while a stream isn't drained; its figures are stale, so they count as unknown. Raises
    ``AccountingError`` (``schema``).
    """
    check_plain(value, "result")
    if type(value) is not dict:
        raise AccountingError(Fault.SCHEMA, "result: expected an object")
    if value.get("is_complete", True) is not True:
        return SdkUsage(sdk_reported=None, verified=None, doubts=("the stream was not drained, so its usage is stale",))
    usage = value.get("context_usage")
    if usage is None:
        return SdkUsage(sdk_reported=None, verified=None, doubts=("the run reports no usage",))
    reported, entries = _read_usage(usage, "context_usage"), _list(usage, "request_usage_entries")
    responses = value.get("raw_responses") or []
    if type(responses) is not list:
        raise AccountingError(Fault.SCHEMA, "result.raw_responses: expected a list")
    raws = [response.get("raw_usage") if type(response) is dict else None for response in responses]
    verified, why = _verify(reported, raws)
    doubts = (*_doubts(reported, entries), *why)
    known = tuple(raw for raw in raws if raw is not None) if verified is not None else ()
    return SdkUsage(sdk_reported=reported, verified=verified, doubts=doubts, entries=tuple(entries), raw_usages=known)


def read_run_state(value: Any) -> SdkUsage:
    """Usage so far of a serialised ``RunState``; cumulative. Raises ``AccountingError`` (``schema``)."""
    check_plain(value, "run state")
    version = value.get("$schemaVersion") if type(value) is dict else None
    if version not in SCHEMA_VERSIONS:
        raise AccountingError(Fault.SCHEMA, "run state: expected $schemaVersion 1.0 to 1.21")
    context = value.get("context")
    usage = context.get("usage") if type(context) is dict else None
    if usage is None:
        raise AccountingError(Fault.SCHEMA, f"run state {version}: context.usage is missing")
    reported, entries = _read_usage(usage, "context.usage"), _list(usage, "request_usage_entries")
    doubts = (*_doubts(reported, entries), "a run state keeps no raw usage")
    return SdkUsage(sdk_reported=reported, verified=None, doubts=doubts, entries=tuple(entries))


def read_spans(spans: Any) -> SdkUsage:
    """Usage by the outermost task spans of a trace (plain form): the last resort where a run left no result."""
    check_plain(spans, "spans")
    rows = {row.get("id"): row for row in spans if type(row) is dict} if type(spans) is list else {}
    tasks = [row for row in rows.values() if _is_task(row) and not _inside_task(row, rows)]
    usages = [_span_usage(row) for row in tasks]
    if not usages or any(usage is None for usage in usages):
        return SdkUsage(sdk_reported=None, verified=None, doubts=("no task span with usage",))
    counts = add_all([_read_usage(usage, "task span") for usage in usages])
    doubts = ("only task spans are left: failed attempts show nowhere, and no raw usage",)
    return SdkUsage(sdk_reported=counts, verified=None, doubts=doubts)


def last_of_resumes(segments: Sequence[SdkUsage]) -> SdkUsage:
    """Segments of one run, in order: each holds the ones before, so the last one counts.

    Raises ``AccountingError``: ``cumulative_regression`` or ``ledger_rewrite`` where a later segment doesn't continue
    the earlier one, ``schema`` where there is none.
    """
    if not segments:
        raise AccountingError(Fault.SCHEMA, "resumes: expected at least one segment")
    for number, (before, after) in enumerate(pairwise(segments), start=1):
        _check_continues(before, after, f"segment {number}")
    return segments[-1]


def sum_of_runs(runs: Sequence[SdkUsage]) -> SdkUsage:
    """Independent runs, whether or not they share a session: they add up; unknown anywhere is unknown."""
    reported = [run.sdk_reported for run in runs]
    verified = [run.verified for run in runs]
    return SdkUsage(
        sdk_reported=_sum_or_none(reported),
        verified=_sum_or_none(verified),
        doubts=tuple(dict.fromkeys(doubt for run in runs for doubt in run.doubts)),
        raw_usages=tuple(raw for run in runs for raw in run.raw_usages),
    )


def union_of_branches(first: SdkUsage, branches: Sequence[SdkUsage]) -> SdkUsage:
    """Several resumes of one saved state: what the state had spent counts once, and each branch's own part after it."""
    for number, branch in enumerate(branches):
        _check_continues(first, branch, f"branch {number}")
    parts = [branch.sdk_reported for branch in branches]
    if first.sdk_reported is None or any(part is None for part in parts):
        reported = None
    else:
        known = [part for part in parts if part is not None]
        reported = dict(first.sdk_reported)
        for key, shared in first.sdk_reported.items():
            own = [part[key] for part in known]
            reported[key] = (
                None if shared is None or None in own else shared + sum(n - shared for n in own if n is not None)
            )
    doubts = tuple(dict.fromkeys(doubt for branch in branches for doubt in branch.doubts))
    return SdkUsage(sdk_reported=reported, verified=None, doubts=(*doubts, "a fork: no branch rule verifies it"))


def _sum_or_none(parts: Sequence[Counts | None]) -> Counts | None:
    known = [part for part in parts if part is not None]
    return add_all(known) if known and len(known) == len(parts) else None


def _check_continues(before: SdkUsage, after: SdkUsage, name: str) -> None:
    for key, count in (before.sdk_reported or {}).items():
        later = (after.sdk_reported or {}).get(key)
        if count is not None and later is not None and later < count:
            detail = f"{name}: {key} falls from {count} to {later}, though a resumed run's usage is cumulative"
            raise AccountingError(Fault.CUMULATIVE_REGRESSION, detail)
    if canonical(list(after.entries[: len(before.entries)])) != canonical(list(before.entries)):
        raise AccountingError(
            Fault.LEDGER_REWRITE, f"{name}: the requests inherited from the segment before were changed"
        )


def _read_usage(usage: Any, where: str) -> Counts:
    """The six counts of an SDK usage object in any of its three shapes. Raises ``AccountingError`` (``schema``)."""
    if type(usage) is not dict:
        raise AccountingError(Fault.SCHEMA, f"{where}: expected an object")
    counts: Counts = {key: usage.get(key) for key in REQUIRED_COUNTS}
    counts["cached_tokens"] = _detail(usage, "input_tokens_details", "cached_tokens", "cached_input_tokens")
    counts["reasoning_tokens"] = _detail(usage, "output_tokens_details", "reasoning_tokens", "reasoning_output_tokens")
    for key, count in counts.items():
        if not is_count(count) and (count is not None or key in REQUIRED_COUNTS):
            raise AccountingError(Fault.SCHEMA, f"{where}.{key}: expected a non-negative integer")
    return counts


def _detail(usage: dict[str, Any], group: str, key: str, flat: str) -> Any:
    details = usage.get(group)
    if type(details) is list and len(details) == 1:
        details = details[0]
    return details.get(key) if type(details) is dict else usage.get(flat)


def _list(usage: dict[str, Any], key: str) -> list[Any]:
    value = usage.get(key) or []
    if type(value) is not list:
        raise AccountingError(Fault.SCHEMA, f"usage.{key}: expected a list")
    return value


def _doubts(reported: Counts, entries: list[Any]) -> list[str]:
    doubts = []
    n_requests, total = reported["requests"] or 0, reported["total_tokens"]
    if total != (reported["input_tokens"] or 0) + (reported["output_tokens"] or 0):
        doubts.append(f"the reported total {total} is not input + output")
    zero = sum(1 for entry in entries if type(entry) is dict and not entry.get("total_tokens"))
    if zero:
        doubts.append(f"{zero} of {n_requests} requests failed or reported zero tokens")
    if len(entries) < n_requests:
        doubts.append(f"{n_requests - len(entries)} of {n_requests} requests have no figures of their own")
    return doubts


def _verify(reported: Counts, raws: list[Any]) -> tuple[Counts | None, list[str]]:
    """Counts proven by raw usage, or None and why not."""
    if len(raws) != reported["requests"]:
        return None, [f"{len(raws)} responses are visible of {reported['requests']} requests"]
    if not raws or any(raw is None for raw in raws):
        return None, ["raw usage is missing (ModelSettings.preserve_raw_usage keeps it)"]
    try:
        parts = [normalize(detect_provider(raw), raw) for raw in raws]
    except AccountingError as error:
        return None, [f"raw usage can't be read: {error.code}: {error.detail}"]
    verified = add_all(parts)
    if any(verified[key] != reported[key] for key in REQUIRED_COUNTS):
        return None, ["raw usage contradicts what the SDK reports"]
    return verified, []


def _is_task(row: Any) -> bool:
    data = row.get("span_data") if type(row) is dict else None
    inner = data.get("data") if type(data) is dict else None
    return type(inner) is dict and inner.get("sdk_span_type") == "task"


def _span_usage(row: dict[str, Any]) -> Any:
    return row["span_data"]["data"].get("usage")


def _inside_task(row: dict[str, Any], rows: dict[Any, dict[str, Any]]) -> bool:
    seen = set()
    parent = rows.get(row.get("parent_id"))
    while parent is not None and parent.get("id") not in seen:
        if _is_task(parent):
            return True
        seen.add(parent.get("id"))
        parent = rows.get(parent.get("parent_id"))
    return False
