"""The records: what was seen, checked against the manifest in the published order of faults.

Per record: schema, not in the manifest, conflicting duplicate · missing records · per checkpoint: identity, boundary,
coverage, digest, usage, each request, the sum · along each chain: cumulative figures, prefix · request reuse across
runs. Ties go to the smallest id. Left out: the fast way to the same answer where nothing is wrong (``fast``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

from proctor.usage.counts import COUNT_KEYS, Counts, add_counts, check_counts, exceeds_limit, zero_counts
from proctor.usage.faults import AccountingError, Fault
from proctor.usage.manifest import STATES, Manifest, check_keys
from proctor.usage.plain import canonical, check_plain, is_count, is_id
from proctor.usage.providers import normalize

__all__ = ["check_records"]

_IDS = ("attempt_id", "candidate_id", "case_id", "checkpoint_id", "evaluation_id", "replicate_id", "run_id")
_RECORD: Final = (
    frozenset(_IDS)
    | frozenset(("schema_version", "session_id", "parent_checkpoint_id", "sequence", "state"))
    | frozenset(("boundary", "coverage_complete", "usage", "request_evidence"))
)
_EVIDENCE: Final = frozenset(("request_id", "provider", "raw_usage", "normalized"))


def check_records(manifest: Manifest, records: Sequence[Any]) -> tuple[dict[str, Counts], int]:
    """Counts of each run (its tip's), and how many exact duplicates were ignored. Raises ``AccountingError``."""
    by_id, digests, n_duplicates = _collect(manifest, records)
    missing = sorted(manifest.checkpoints.keys() - by_id.keys())
    if missing:
        raise AccountingError(Fault.MISSING_RECORD, f"checkpoint {missing[0]} has no record ({len(missing)} missing)")
    for checkpoint_id in sorted(by_id):
        _check_checkpoint(manifest, checkpoint_id, by_id[checkpoint_id], digests[checkpoint_id])
    for run_id in sorted(manifest.chains):
        _check_along(manifest.chains[run_id], by_id)
    _check_reuse(manifest, by_id)
    return {
        run_id: by_id[chain[-1]["checkpoint_id"]]["usage"] for run_id, chain in manifest.chains.items()
    }, n_duplicates


def _collect(manifest: Manifest, records: Sequence[Any]) -> tuple[dict[str, Any], dict[str, str], int]:
    """Records by checkpoint, whatever their order; of several faults the one with the smallest id is raised.

    What has no id comes first. Once a fault is known, records with greater ids aren't looked at.
    """
    if not all(type(record) is dict and is_id(record.get("checkpoint_id")) for record in records):
        raise _schema("a record", "an object with an id as its checkpoint_id")
    version: int = manifest.value["schema_version"]
    by_id: dict[str, Any] = {}
    digests: dict[str, str] = {}
    n_duplicates = 0
    first: tuple[str, int, str] | None = None
    error: AccountingError | None = None
    for record in sorted(records, key=itemgetter("checkpoint_id")):
        name: str = record["checkpoint_id"]
        if first is not None and name > first[0]:
            break
        rank, fault = _fault_of(record, name, version, manifest, digests)
        if fault is None:
            n_duplicates += name in by_id
            by_id.setdefault(name, record)
        elif first is None or (name, rank, fault.detail) < first:
            first, error = (name, rank, fault.detail), fault
    if error is not None:
        raise error
    return by_id, digests, n_duplicates


def _fault_of(
    record: Any, name: str, version: int, manifest: Manifest, digests: dict[str, str]
) -> tuple[int, AccountingError | None]:
    """The first fault of one record and its rank, or None; notes the digest of a checkpoint's first copy."""
    try:
        _check_schema(record, version, name)
    except AccountingError as fault:
        return 0, fault
    if name not in manifest.checkpoints:
        return 1, AccountingError(Fault.EXTRA_RECORD, f"checkpoint {name} is not in the manifest")
    digest = hashlib.sha256(canonical(record)).hexdigest()
    if digests.setdefault(name, digest) != digest:
        return 2, AccountingError(Fault.CONFLICTING_DUPLICATE, f"checkpoint {name}: delivered twice, content differs")
    return 0, None


def _schema(where: str, expected: str) -> AccountingError:
    return AccountingError(Fault.SCHEMA, f"{where}: expected {expected}")


def _check_schema(record: Any, version: int, name: str) -> None:
    """Keys at every level, and every value but the counts, which belong to the usage and request checks."""
    check_keys(record, _RECORD, name)
    check_plain(record, name)
    if type(record["schema_version"]) is not int or record["schema_version"] != version:
        raise _schema(f"{name}.schema_version", f"{version}, as in the manifest")
    for key in _IDS:
        if not is_id(record[key]):
            raise _schema(f"{name}.{key}", "an id")
    for key in ("session_id", "parent_checkpoint_id"):
        if not (record[key] is None or is_id(record[key])):
            raise _schema(f"{name}.{key}", "an id or null")
    if not is_count(record["sequence"]):
        raise _schema(f"{name}.sequence", "a non-negative integer")
    if type(record["state"]) is not str or record["state"] not in STATES:
        raise _schema(f"{name}.state", " or ".join(STATES))
    check_keys(record["usage"], COUNT_KEYS, f"{name}.usage")
    if type(record["request_evidence"]) is not list:
        raise _schema(f"{name}.request_evidence", "a list")
    for number, request in enumerate(record["request_evidence"]):
        where = f"{name}.request_evidence[{number}]"
        check_keys(request, _EVIDENCE, where)
        if not is_id(request["request_id"]):
            raise _schema(f"{where}.request_id", "an id")
        if type(request["provider"]) is not str:
            raise _schema(f"{where}.provider", "a string")
        check_keys(request["normalized"], COUNT_KEYS, f"{where}.normalized")


def _check_checkpoint(manifest: Manifest, name: str, record: dict[str, Any], digest: str) -> None:
    checkpoint = manifest.checkpoints[name]
    run = manifest.runs[checkpoint["run_id"]]
    attempt = manifest.attempts[run["attempt_id"]]
    for source, keys in (
        (manifest.value, ("candidate_id", "evaluation_id")),
        (attempt, ("attempt_id", "case_id", "replicate_id")),
        (run, ("run_id", "session_id")),
        (checkpoint, ("parent_checkpoint_id", "sequence", "state")),
    ):
        for key in keys:
            if record[key] != source[key]:
                detail = f"{name}.{key}: {record[key]} where the manifest says {source[key]}"
                raise AccountingError(Fault.IDENTITY, detail)
    if record["boundary"] != "top_level":
        detail = f"{name}.boundary: only top_level usage counts; nested usage is inside its parent's"
        raise AccountingError(Fault.NESTED_BOUNDARY, detail)
    if record["coverage_complete"] is not True:
        detail = f"{name}.coverage_complete: not every request is known to be covered"
        raise AccountingError(Fault.INCOMPLETE_COVERAGE, detail)
    if digest != checkpoint["record_sha256"]:
        raise AccountingError(Fault.DIGEST_MISMATCH, f"{name}: the record's digest is not the manifest's")
    _check_usage(record, name)


def _check_usage(record: dict[str, Any], name: str) -> None:
    version = record["schema_version"]
    check_counts(record["usage"], f"{name}.usage", subsets_may_be_null=version > 1)
    total = zero_counts()
    seen: set[str] = set()
    for number, request in enumerate(record["request_evidence"]):
        where = f"{name}.request_evidence[{number}] ({request['request_id']})"
        total = add_counts(total, _check_request(request, version, where))
        if request["request_id"] in seen:
            raise AccountingError(Fault.DUPLICATE_REQUEST, f"{where}: listed twice in one ledger")
        seen.add(request["request_id"])
    if total != record["usage"] or exceeds_limit(total):
        wrong = sorted(key for key, count in total.items() if record["usage"][key] != count)
        raise AccountingError(Fault.AGGREGATE_MISMATCH, f"{name}.usage: {', '.join(wrong)} is not the requests' sum")


def _check_request(request: dict[str, Any], version: int, where: str) -> Counts:
    provider = request["provider"]
    if version == 1 and provider != "openai.responses":
        detail = f"{where}: provider {provider} is not supported in schema version 1"
        raise AccountingError(Fault.UNSUPPORTED_PROVIDER, detail)
    try:
        counts = normalize(provider, request["raw_usage"])
    except AccountingError as error:
        raise AccountingError(error.code, f"{where}: {error.detail}") from None
    check_counts(request["normalized"], f"{where}.normalized", subsets_may_be_null=version > 1)
    if counts != request["normalized"]:
        raise AccountingError(Fault.RAW_NORMALIZED_MISMATCH, f"{where}: normalized is not what raw_usage says")
    return counts


def _check_along(chain: list[dict[str, Any]], by_id: dict[str, Any]) -> None:
    for before, after in pairwise(chain):
        old, new = by_id[before["checkpoint_id"]], by_id[after["checkpoint_id"]]
        name = after["checkpoint_id"]
        for key, count in sorted(old["usage"].items()):
            later = new["usage"][key]
            if count is not None and later is not None and later < count:
                detail = f"{name}.usage.{key}: falls from {count} to {later}, though usage is cumulative"
                raise AccountingError(Fault.CUMULATIVE_REGRESSION, detail)
        inherited = new["request_evidence"][: len(old["request_evidence"])]
        if canonical(inherited) != canonical(old["request_evidence"]):
            detail = f"{name}: the requests inherited from {before['checkpoint_id']} were changed"
            raise AccountingError(Fault.LEDGER_REWRITE, detail)


def _check_reuse(manifest: Manifest, by_id: dict[str, Any]) -> None:
    owner: dict[str, str] = {}
    reused: set[tuple[str, str, str]] = set()
    for run_id, chain in manifest.chains.items():
        for request in by_id[chain[-1]["checkpoint_id"]]["request_evidence"]:
            request_id = request["request_id"]
            if owner.setdefault(request_id, run_id) != run_id:
                reused.add((request_id, *sorted((owner[request_id], run_id))))
    if reused:
        request_id, one, other = min(reused)
        detail = f"request {request_id} is claimed by runs {one} and {other}"
        raise AccountingError(Fault.REQUEST_REUSED_ACROSS_RUNS, detail)
