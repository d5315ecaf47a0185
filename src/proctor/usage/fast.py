"""The fast way to a valid result: it proves that nothing is wrong, or gives up and says nothing.

Whatever isn't plainly in order makes these functions return None, and the careful reducer (``reduce``) then finds the
first fault in the published order. So this file decides no fault and words no message; a property test holds the two
to the same answers.

How it proves: documents are decoded into typed structs (``wire``), one record at a time, which settles keys and types;
a record's canonical bytes must have the digest that the manifest names; the bytes of a chain's earlier request list
must be a prefix of the later one's. Bytes from a file hold just what a struct holds if both have the same length once
white space is gone: a doubled key, or an escape that another spelling hides, would make the file longer. Floats in a
raw usage object have more than one spelling, so records that hold any go the careful way.
"""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from proctor.usage.counts import Counts
from proctor.usage.faults import AccountingError
from proctor.usage.plain import check_plain
from proctor.usage.providers import ADAPTERS, normalize
from proctor.usage.result import attempt_row, valid_result
from proctor.usage.wire import (
    AnyRequest,
    AttemptRow,
    CheckpointRow,
    ManifestFile,
    Record,
    RunRow,
    UsualRequest,
)

__all__ = ["reduce_fast", "reduce_fast_bytes", "without_collection"]

_Row: TypeAlias = "Record[UsualRequest] | Record[AnyRequest]"
_Owner: TypeAlias = tuple[CheckpointRow, RunRow, AttemptRow]

_decode_manifest = msgspec.json.Decoder(ManifestFile).decode
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_usual = msgspec.json.Decoder(Record[UsualRequest]).decode
_decode_any = msgspec.json.Decoder(Record[AnyRequest]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode
_IDS: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}\n)*+")
_HASHES: Final = re.compile(r"(?:[0-9a-f]{64}\n)*+")
_SPACE: Final = b" \t\r\n"
_LIST_KEY: Final = b'"request_evidence"'
_LIST_START: Final = b'"request_evidence":['
_LIST_END: Final = b'],"run_id":"'


class _GiveUp(Exception):
    """Not plainly in order: no error, the careful reducer takes over."""


_NOT_PLAIN: Final = (msgspec.MsgspecError, _GiveUp, AccountingError, UnicodeError, RecursionError)


def reduce_fast(manifest: Any, records: Any) -> dict[str, Any] | None:
    """The valid result of two values in memory, or None. May raise what hostile objects raise."""
    if type(manifest) is not dict or type(records) not in (list, tuple):
        return None
    try:
        with without_collection():
            return _reduce(msgspec.convert(manifest, ManifestFile), map(_convert, records))
    except _NOT_PLAIN:
        return None


def reduce_fast_bytes(manifest: bytes, records: bytes) -> dict[str, Any] | None:
    """The valid result of two JSON documents, or None."""
    try:
        with without_collection():
            typed = _decode_manifest(manifest)
            _require(_n_bytes(manifest) == _n_bytes(_encode(typed)))
            _require(records.count(_LIST_KEY) >= len(typed.checkpoints))  # else 100 MB of numbers would be split first
            rows = _Rows(_split(records))
            result = _reduce(typed, rows)
            return result if _n_bytes(records) == rows.n_bytes else None
    except _NOT_PLAIN:
        return None


def _convert(record: Any) -> tuple[_Row, bytes]:
    """A record in memory, and its canonical bytes."""
    row: _Row
    try:
        row = msgspec.convert(record, Record[UsualRequest])
    except msgspec.ValidationError:
        row = msgspec.convert(record, Record[AnyRequest])
    return row, _encode(row)


class _Rows:
    """Records from a file with their canonical bytes, and how long the whole list is in that form without spaces."""

    def __init__(self, raws: list[msgspec.Raw]) -> None:
        self._raws = raws
        self.n_bytes = 2 + max(0, len(raws) - 1)

    def __iter__(self) -> Iterator[tuple[_Row, bytes]]:
        row: _Row
        for raw in self._raws:
            try:
                row = _decode_usual(raw)
            except msgspec.ValidationError:
                row = _decode_any(raw)
            body = _encode(row)
            self.n_bytes += len(body) - body.count(b" ")
            yield row, body


def _n_bytes(document: bytes) -> int:
    return len(document.translate(None, _SPACE))


@contextmanager
def without_collection() -> Iterator[None]:
    """Millions of acyclic objects are made at once; looking for cycles among them again and again doubles the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _require(condition: bool) -> None:
    if not condition:
        raise _GiveUp


def _require_all(pattern: re.Pattern[str], values: list[str]) -> None:
    text = "\n".join(values) + "\n" if values else ""
    _require(text.count("\n") == len(values) and pattern.fullmatch(text) is not None)


def _reduce(manifest: ManifestFile, rows: Iterable[tuple[_Row, bytes]]) -> dict[str, Any]:
    chains, owners = _chains(manifest)
    listed: dict[str, bytes] = {}
    totals: dict[str, Counts] = {}
    request_ids: list[str] = []
    n_duplicates = 0
    n_start = len(_LIST_START)
    request_id = attrgetter("request_id")
    for row, body in rows:
        name = row.checkpoint_id
        owner = owners.get(name)
        if owner is None or hashlib.sha256(body).hexdigest() != owner[0].record_sha256:
            raise _GiveUp
        if name in listed:
            n_duplicates += 1
            continue
        _check_row(row, manifest, owner)
        listed[name] = body[body.index(_LIST_START) + n_start : body.rindex(_LIST_END)]
        if name == owner[1].terminal_checkpoint_id:
            totals[row.run_id] = msgspec.structs.asdict(row.usage)
            request_ids.extend(map(request_id, row.request_evidence))
    _require(len(listed) == len(owners))
    for chain in chains.values():
        for before, after in pairwise(chain):
            inherited, whole = listed[before.checkpoint_id], listed[after.checkpoint_id]
            if not whole.startswith(inherited) or (
                inherited and whole[len(inherited) : len(inherited) + 1] not in b","
            ):
                raise _GiveUp
    _require_all(_IDS, request_ids)
    _require(len(set(request_ids)) == len(request_ids))
    header = {
        "schema_version": manifest.schema_version,
        "evaluation_id": manifest.evaluation_id,
        "candidate_id": manifest.candidate_id,
        "provenance": msgspec.to_builtins(manifest.provenance),
        "budget": msgspec.to_builtins(manifest.budget),
    }
    attempts = [
        attempt_row(
            attempt_id=attempt.attempt_id,
            case_id=attempt.case_id,
            replicate_id=attempt.replicate_id,
            retry_index=attempt.retry_index,
            outcome=attempt.outcome,
            tips=[totals[run_id] for run_id in attempt.run_ids],
        )
        for attempt in manifest.attempts
    ]
    return valid_result(header, attempts, len(totals), n_duplicates)


def _chains(manifest: ManifestFile) -> tuple[dict[str, list[CheckpointRow]], dict[str, _Owner]]:
    """Each run's checkpoints from root to tip; each checkpoint with its run and attempt."""
    version, adapter = manifest.schema_version, manifest.provenance.adapter
    _encode(manifest.provenance)  # its free strings must be valid Unicode
    _require(manifest.attempt_set_closed and len(manifest.attempts) > 0)
    _require(adapter == "openai.responses" if version == 1 else adapter in ADAPTERS)
    _require_all(_HASHES, [point.record_sha256 for point in manifest.checkpoints])
    by_run: dict[str, list[CheckpointRow]] = {run.run_id: [] for run in manifest.runs}
    for point in manifest.checkpoints:
        chain = by_run.get(point.run_id)
        if chain is None:
            raise _GiveUp
        chain.append(point)
    owner = _check_roster(manifest, set(by_run))
    owners: dict[str, _Owner] = {}
    sequence = attrgetter("sequence")
    for run in manifest.runs:
        chain = by_run[run.run_id]
        attempt = owner[run.run_id]
        if not chain or attempt.attempt_id != run.attempt_id:
            raise _GiveUp
        chain.sort(key=sequence)
        parent = None
        failed = False
        for number, point in enumerate(chain):
            if point.sequence != number or point.parent_checkpoint_id != parent:
                raise _GiveUp
            failed = failed or point.state == "failed"
            parent = point.checkpoint_id
            owners[parent] = (point, run, attempt)
        if parent != run.terminal_checkpoint_id or chain[-1].state == "checkpoint":
            raise _GiveUp
        if failed and attempt.outcome != "failed":
            raise _GiveUp
    return by_run, owners


def _check_roster(manifest: ManifestFile, runs: set[str]) -> dict[str, AttemptRow]:
    """The attempt of each run: ids well formed and not doubled, no gap in retry indices, every run listed once."""
    rosters: dict[tuple[str, str], list[int]] = {}
    listed: list[str] = []
    for attempt in manifest.attempts:
        rosters.setdefault((attempt.case_id, attempt.replicate_id), []).append(attempt.retry_index)
        _require(len(attempt.run_ids) > 0)
        listed += attempt.run_ids
    for indices in rosters.values():
        _require(indices == [0] or sorted(indices) == list(range(len(indices))))
    points = [point.checkpoint_id for point in manifest.checkpoints]
    attempts = [attempt.attempt_id for attempt in manifest.attempts]
    sessions = [run.session_id for run in manifest.runs if run.session_id is not None]
    _require(len(runs) == len(manifest.runs) == len(listed) and runs == set(listed))
    _require(len(set(points)) == len(points) and len(set(attempts)) == len(attempts))
    cells = [name for cell in rosters for name in cell]
    _require_all(_IDS, [manifest.evaluation_id, manifest.candidate_id, *cells, *attempts, *listed, *points, *sessions])
    return {run_id: attempt for attempt in manifest.attempts for run_id in attempt.run_ids}


def _check_row(row: _Row, manifest: ManifestFile, owner: _Owner) -> None:
    """Identity, coverage, each request, and their sum; types are settled already."""
    point, run, attempt = owner
    if not (
        row.attempt_id == attempt.attempt_id
        and row.run_id == run.run_id
        and row.case_id == attempt.case_id
        and row.replicate_id == attempt.replicate_id
        and row.session_id == run.session_id
        and row.evaluation_id == manifest.evaluation_id
        and row.candidate_id == manifest.candidate_id
        and row.parent_checkpoint_id == point.parent_checkpoint_id
        and row.sequence == point.sequence
        and row.state == point.state
        and row.schema_version == manifest.schema_version
        and row.coverage_complete
    ):
        raise _GiveUp
    n_cached: int | None = 0
    n_reasoning: int | None = 0
    n_given = n_made = 0
    for request in row.request_evidence:
        counts = request.normalized
        cached, reasoning, given, made = _usual(request) or _other(request, manifest.schema_version)
        n_cached = None if n_cached is None or cached is None else n_cached + cached
        n_reasoning = None if n_reasoning is None or reasoning is None else n_reasoning + reasoning
        n_given += given
        n_made += made
        if counts.requests != 1 or counts.total_tokens != given + made:
            raise _GiveUp
    usage = row.usage
    if not (
        usage.requests == len(row.request_evidence)
        and usage.input_tokens == n_given
        and usage.output_tokens == n_made
        and usage.total_tokens == n_given + n_made
        and usage.cached_tokens == n_cached
        and usage.reasoning_tokens == n_reasoning
    ):
        raise _GiveUp


def _usual(request: UsualRequest | AnyRequest) -> tuple[int | None, int | None, int, int] | None:
    """Cached, reasoning, input, output of a request with the five plain figures of OpenAI Responses, else None."""
    if type(request) is not UsualRequest or request.provider != "openai.responses":
        return None
    raw, counts = request.raw_usage, request.normalized
    given, made = raw.input_tokens, raw.output_tokens
    cached, reasoning = raw.input_tokens_details.cached_tokens, raw.output_tokens_details.reasoning_tokens
    if not (
        counts.input_tokens == given
        and counts.output_tokens == made
        and counts.cached_tokens == cached <= given
        and counts.reasoning_tokens == reasoning <= made
        and raw.total_tokens == given + made
    ):
        raise _GiveUp
    return cached, reasoning, given, made


def _other(request: UsualRequest | AnyRequest, version: int) -> tuple[int | None, int | None, int, int]:
    """The same of a request with further fields, or of another provider: by the provider's rule."""
    raw, counts = request.raw_usage, request.normalized
    _require(version > 1 or request.provider == "openai.responses")
    value = raw if isinstance(raw, dict) else msgspec.to_builtins(raw)
    check_plain(value, "raw_usage")
    _require(not _holds_float(value) and normalize(request.provider, value) == msgspec.to_builtins(counts))
    return counts.cached_tokens, counts.reasoning_tokens, counts.input_tokens, counts.output_tokens


def _holds_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_float, value))
    return isinstance(value, float)
