"""Typed structs of the two documents, as strict as their schema, for the fast way and for writing them.

Left out: what holds between fields (``manifest``, ``records``, ``fast``). Fields stand
in the order of their keys, so that an encoder writes them canonically.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from proctor.usage.plain import COUNT_LIMIT

__all__ = [
    "AnyRequest",
    "AttemptRow",
    "CheckpointRow",
    "CountsRow",
    "ManifestFile",
    "Record",
    "RunRow",
    "UsualRequest",
]

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=COUNT_LIMIT)]
State: TypeAlias = Literal["checkpoint", "succeeded", "failed"]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What all parts of the two documents share."""


class CountsRow(_Part, frozen=True, kw_only=True, gc=False):
    """The six counts; a subset count may be null in schema version 2."""

    cached_tokens: Count | None
    input_tokens: Count
    output_tokens: Count
    reasoning_tokens: Count | None
    requests: Count
    total_tokens: Count


class _CachedTokens(_Part, frozen=True, kw_only=True, gc=False):
    cached_tokens: Count


class _ReasoningTokens(_Part, frozen=True, kw_only=True, gc=False):
    reasoning_tokens: Count


class UsualRaw(_Part, frozen=True, kw_only=True, gc=False):
    """A raw usage object of OpenAI Responses with its five figures and nothing else."""

    input_tokens: Count
    input_tokens_details: _CachedTokens
    output_tokens: Count
    output_tokens_details: _ReasoningTokens
    total_tokens: Count


class _Request(_Part, frozen=True, kw_only=True, gc=False):
    normalized: CountsRow
    provider: str


class UsualRequest(_Request, frozen=True, kw_only=True, gc=False):
    """One entry of the request evidence whose raw usage has the usual shape."""

    raw_usage: UsualRaw
    request_id: str


class AnyRequest(_Request, frozen=True, kw_only=True, gc=False):
    """One entry of the request evidence, whatever its raw usage holds."""

    raw_usage: dict[str, Any]
    request_id: str


T = TypeVar("T", UsualRequest, AnyRequest)


class Record(_Part, Generic[T], frozen=True, kw_only=True, gc=False):
    """One usage snapshot at a checkpoint, cumulative since the run began."""

    attempt_id: str
    boundary: Literal["top_level"]
    candidate_id: str
    case_id: str
    checkpoint_id: str
    coverage_complete: bool
    evaluation_id: str
    parent_checkpoint_id: str | None
    replicate_id: str
    request_evidence: list[T]
    run_id: str
    schema_version: int
    sequence: Count
    session_id: str | None
    state: State
    usage: CountsRow


class Budget(_Part, frozen=True, kw_only=True, gc=False):
    """Limits of the whole list: equal passes."""

    requests: Count
    total_tokens: Count


class Provenance(_Part, frozen=True, kw_only=True, gc=False):
    """What collected the evidence."""

    adapter: str
    collector_version: str
    data_origin: Literal["synthetic_fixture", "collector_capture"]
    sdk_version: str


class AttemptRow(_Part, frozen=True, kw_only=True, gc=False):
    """One try at a case and replicate."""

    attempt_id: str
    case_id: str
    outcome: Literal["succeeded", "failed"]
    replicate_id: str
    retry_index: Count
    run_ids: list[str]


class RunRow(_Part, frozen=True, kw_only=True, gc=False):
    """One of an attempt's runs."""

    attempt_id: str
    run_id: str
    session_id: str | None
    terminal_checkpoint_id: str


class CheckpointRow(_Part, frozen=True, kw_only=True, gc=False):
    """One point of a run's chain, and the digest of its record."""

    checkpoint_id: str
    parent_checkpoint_id: str | None
    record_sha256: str
    run_id: str
    sequence: Count
    state: State


class ManifestFile(_Part, frozen=True, kw_only=True, gc=False):
    """Everything that should exist."""

    attempt_set_closed: bool
    attempts: list[AttemptRow]
    budget: Budget
    candidate_id: str
    checkpoints: list[CheckpointRow]
    evaluation_id: str
    provenance: Provenance
    runs: list[RunRow]
    schema_version: Literal[1, 2]
