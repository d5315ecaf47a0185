"""The manifest: what should exist, checked in the published order of faults.

Schema, open attempt set, doubled ids · attempt and run identity · retry roster · chain structure (run by run, in the
order of run ids) · outcomes. The first fault is raised. Left out: the records themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from proctor.usage.faults import AccountingError, Fault
from proctor.usage.plain import check_plain, is_count, is_id
from proctor.usage.providers import ADAPTERS

__all__ = ["Manifest", "check_keys", "check_manifest"]

_TOP = frozenset(("schema_version", "evaluation_id", "candidate_id", "attempt_set_closed", "budget")) | frozenset(
    ("attempts", "runs", "checkpoints", "provenance")
)
_BUDGET = frozenset(("total_tokens", "requests"))
_PROVENANCE = frozenset(("sdk_version", "collector_version", "adapter", "data_origin"))
_ATTEMPT = frozenset(("attempt_id", "case_id", "replicate_id", "retry_index", "outcome", "run_ids"))
_RUN = frozenset(("run_id", "attempt_id", "session_id", "terminal_checkpoint_id"))
_CHECKPOINT = frozenset(("checkpoint_id", "run_id", "parent_checkpoint_id", "sequence", "state", "record_sha256"))
_ORIGINS: Final = ("synthetic_fixture", "collector_capture")
OUTCOMES: Final = ("succeeded", "failed")
STATES: Final = ("checkpoint", "succeeded", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest that holds together: indices by id, and each run's checkpoints from root to tip."""

    value: dict[str, Any]
    attempts: dict[str, dict[str, Any]]
    runs: dict[str, dict[str, Any]]
    checkpoints: dict[str, dict[str, Any]]
    chains: dict[str, list[dict[str, Any]]]


def check_manifest(value: Any) -> Manifest:
    """Check a manifest. Raises ``AccountingError`` for the first fault."""
    _check_schema(value)
    attempts = _index(value["attempts"], "attempt_id")
    runs = _index(value["runs"], "run_id")
    checkpoints = _index(value["checkpoints"], "checkpoint_id")
    _check_assignment(attempts, runs, checkpoints)
    _check_roster(value["attempts"])
    by_run: dict[str, list[dict[str, Any]]] = {run_id: [] for run_id in runs}
    for checkpoint in value["checkpoints"]:
        by_run[checkpoint["run_id"]].append(checkpoint)
    chains = {run_id: _check_chain(runs[run_id], by_run[run_id], checkpoints) for run_id in sorted(runs)}
    _check_outcomes(attempts, by_run)
    return Manifest(value=value, attempts=attempts, runs=runs, checkpoints=checkpoints, chains=chains)


def _schema(where: str, expected: str) -> AccountingError:
    return AccountingError(Fault.SCHEMA, f"{where}: expected {expected}")


def check_keys(value: Any, keys: frozenset[str], where: str) -> None:
    """Raise ``AccountingError`` (``schema``) unless a value is an object with exactly these keys."""
    if type(value) is not dict:
        raise _schema(where, "an object")
    if value.keys() != keys:
        missing = sorted(keys - value.keys())
        extra = sorted(str(key) for key in value.keys() - keys)
        wrong = [f"{key} is missing" for key in missing] + [f"{key} is unknown" for key in extra]
        raise _schema(where, f"exactly the published keys ({', '.join(wrong[:3])})")


def _check_schema(value: Any) -> None:
    check_keys(value, _TOP, "manifest")
    version = value["schema_version"]
    if type(version) is not int or version not in (1, 2):
        raise _schema("manifest.schema_version", "1 or 2")
    for key in ("candidate_id", "evaluation_id"):
        _check_id(value, key, "manifest")
    check_keys(value["budget"], _BUDGET, "manifest.budget")
    for key in sorted(_BUDGET):
        if not is_count(value["budget"][key]):
            raise _schema(f"manifest.budget.{key}", "a non-negative integer")
    _check_provenance(value["provenance"])
    for key, check in (("attempts", _check_attempt), ("runs", _check_run), ("checkpoints", _check_checkpoint)):
        if type(value[key]) is not list:
            raise _schema(f"manifest.{key}", "a list")
        for number, item in enumerate(value[key]):
            check(item, f"manifest.{key}[{number}]")
    _check_scope(value, version)


def _check_provenance(provenance: Any) -> None:
    check_keys(provenance, _PROVENANCE, "manifest.provenance")
    for key in sorted(_PROVENANCE):
        if type(provenance[key]) is not str:
            raise _schema(f"manifest.provenance.{key}", "a string")
        check_plain(provenance[key], f"manifest.provenance.{key}")
    if provenance["data_origin"] not in _ORIGINS:
        raise _schema("manifest.provenance.data_origin", " or ".join(_ORIGINS))


def _check_scope(value: dict[str, Any], version: int) -> None:
    """A provider that this schema version covers, and a list of attempts that nobody can still add to."""
    adapter = value["provenance"]["adapter"]
    if adapter not in (ADAPTERS if version > 1 else ("openai.responses",)):
        detail = f"manifest.provenance.adapter: {adapter} is not supported in schema version {version}"
        raise AccountingError(Fault.UNSUPPORTED_PROVIDER, detail)
    if value["attempt_set_closed"] is not True:
        raise AccountingError(Fault.INCOMPLETE_MANIFEST, "manifest.attempt_set_closed: the attempt set is not closed")
    if not value["attempts"]:
        raise AccountingError(Fault.INCOMPLETE_MANIFEST, "manifest.attempts: no attempt is registered")


def _check_id(item: dict[str, Any], key: str, where: str, *, or_null: bool = False) -> None:
    if not (is_id(item[key]) or (or_null and item[key] is None)):
        raise _schema(f"{where}.{key}", "an id" + (" or null" if or_null else ""))


def _check_attempt(item: Any, where: str) -> None:
    check_keys(item, _ATTEMPT, where)
    for key in ("attempt_id", "case_id", "replicate_id"):
        _check_id(item, key, where)
    if not is_count(item["retry_index"]):
        raise _schema(f"{where}.retry_index", "a non-negative integer")
    if type(item["outcome"]) is not str or item["outcome"] not in OUTCOMES:
        raise _schema(f"{where}.outcome", " or ".join(OUTCOMES))
    run_ids = item["run_ids"]
    if type(run_ids) is not list or not run_ids or not all(map(is_id, run_ids)):
        raise _schema(f"{where}.run_ids", "a list of at least one id")


def _check_run(item: Any, where: str) -> None:
    check_keys(item, _RUN, where)
    for key in ("run_id", "attempt_id", "terminal_checkpoint_id"):
        _check_id(item, key, where)
    _check_id(item, "session_id", where, or_null=True)


def _check_checkpoint(item: Any, where: str) -> None:
    check_keys(item, _CHECKPOINT, where)
    for key in ("checkpoint_id", "run_id"):
        _check_id(item, key, where)
    _check_id(item, "parent_checkpoint_id", where, or_null=True)
    if not is_count(item["sequence"]):
        raise _schema(f"{where}.sequence", "a non-negative integer")
    if type(item["state"]) is not str or item["state"] not in STATES:
        raise _schema(f"{where}.state", " or ".join(STATES))
    digest = item["record_sha256"]
    if type(digest) is not str or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise _schema(f"{where}.record_sha256", "64 lower-case hexadecimal digits")


def _index(items: Iterable[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    doubled: set[str] = set()
    for item in items:
        if item[key] in found:
            doubled.add(item[key])
        found[item[key]] = item
    if doubled:
        raise AccountingError(Fault.DUPLICATE_MANIFEST_IDENTITY, f"{key} {min(doubled)} is listed more than once")
    return found


def _check_assignment(attempts: dict[str, Any], runs: dict[str, Any], checkpoints: dict[str, Any]) -> None:
    owner: dict[str, str] = {}
    for attempt_id in sorted(attempts):
        for run_id in attempts[attempt_id]["run_ids"]:
            if run_id in owner:
                raise AccountingError(Fault.IDENTITY, f"run {run_id} is assigned twice: {owner[run_id]}, {attempt_id}")
            if run_id not in runs:
                raise AccountingError(Fault.IDENTITY, f"attempt {attempt_id}: run {run_id} is not in the manifest")
            owner[run_id] = attempt_id
    for run_id in sorted(runs):
        if owner.get(run_id) != runs[run_id]["attempt_id"]:
            said = runs[run_id]["attempt_id"]
            raise AccountingError(Fault.IDENTITY, f"run {run_id} names attempt {said}, which does not list it")
    for checkpoint_id in sorted(checkpoints):
        run_id = checkpoints[checkpoint_id]["run_id"]
        if run_id not in runs:
            raise AccountingError(Fault.IDENTITY, f"checkpoint {checkpoint_id}: run {run_id} is not in the manifest")


def _check_roster(attempts: list[dict[str, Any]]) -> None:
    rosters: dict[tuple[str, str], list[int]] = {}
    for attempt in attempts:
        rosters.setdefault((attempt["case_id"], attempt["replicate_id"]), []).append(attempt["retry_index"])
    for (case_id, replicate_id), indices in sorted(rosters.items()):
        if sorted(indices) != list(range(len(indices))):
            detail = f"case {case_id}, replicate {replicate_id}: retry indices are not 0 to {len(indices) - 1}"
            raise AccountingError(Fault.RETRY_ROSTER, detail)


def _check_chain(
    run: dict[str, Any], own: list[dict[str, Any]], every: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """One run's checkpoints from root to tip. ``every`` holds the checkpoints of all runs by id."""
    run_id = run["run_id"]
    own = sorted(own, key=lambda checkpoint: checkpoint["checkpoint_id"])
    _check_presence(run, own, every)
    roots = [checkpoint for checkpoint in own if checkpoint["parent_checkpoint_id"] is None]
    for checkpoint in own:
        parent = checkpoint["parent_checkpoint_id"]
        if parent is not None and every[parent]["run_id"] != run_id:
            detail = f"checkpoint {checkpoint['checkpoint_id']}: parent {parent} belongs to another run"
            raise AccountingError(Fault.BROKEN_CHAIN, detail)
    if len(roots) > 1:
        detail = f"run {run_id}: more than one root ({', '.join(root['checkpoint_id'] for root in roots[:3])})"
        raise AccountingError(Fault.BROKEN_CHAIN, detail)
    child_of: dict[str, dict[str, Any]] = {}
    for checkpoint in own:
        parent = checkpoint["parent_checkpoint_id"]
        if parent in child_of:
            raise AccountingError(Fault.FORK, f"run {run_id}: checkpoint {parent} has more than one child")
        if parent is not None:
            child_of[parent] = checkpoint
    chain = roots[:]
    while chain and (after := child_of.get(chain[-1]["checkpoint_id"])) is not None:
        chain.append(after)
    if len(chain) != len(own):
        raise AccountingError(Fault.CYCLE, f"run {run_id}: checkpoints are their own ancestors")
    for number, checkpoint in enumerate(chain):
        if checkpoint["sequence"] != number:
            detail = f"checkpoint {checkpoint['checkpoint_id']}: sequence {checkpoint['sequence']}, expected {number}"
            raise AccountingError(Fault.SEQUENCE, detail)
    tip = chain[-1]
    if run["terminal_checkpoint_id"] != tip["checkpoint_id"] or tip["state"] == "checkpoint":
        detail = f"run {run_id}: the terminal must be the chain's tip {tip['checkpoint_id']}, succeeded or failed"
        raise AccountingError(Fault.TERMINAL, detail)
    return chain


def _check_presence(run: dict[str, Any], own: list[dict[str, Any]], every: dict[str, dict[str, Any]]) -> None:
    if not own:
        raise AccountingError(Fault.MISSING_CHECKPOINT, f"run {run['run_id']} has no checkpoint")
    if run["terminal_checkpoint_id"] not in every:
        detail = f"run {run['run_id']}: terminal {run['terminal_checkpoint_id']} is not in the manifest"
        raise AccountingError(Fault.MISSING_CHECKPOINT, detail)
    for checkpoint in own:
        parent = checkpoint["parent_checkpoint_id"]
        if parent is not None and parent not in every:
            detail = f"checkpoint {checkpoint['checkpoint_id']}: parent {parent} is not in the manifest"
            raise AccountingError(Fault.MISSING_CHECKPOINT, detail)


def _check_outcomes(attempts: dict[str, Any], by_run: dict[str, list[dict[str, Any]]]) -> None:
    for attempt_id in sorted(attempts):
        attempt = attempts[attempt_id]
        if attempt["outcome"] != "succeeded":
            continue
        states = [point["state"] for run_id in attempt["run_ids"] for point in by_run[run_id]]
        if "failed" in states:
            detail = f"attempt {attempt_id} claims success, yet a checkpoint of it failed"
            raise AccountingError(Fault.OUTCOME_MISMATCH, detail)
