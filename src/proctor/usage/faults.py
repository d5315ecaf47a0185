"""The closed set of accounting faults, and the exception that carries one. Left out: who finds them, in which order."""

from __future__ import annotations

from enum import StrEnum

from proctor.errors import EvidenceError, shorten

__all__ = ["AccountingError", "Fault"]


class Fault(StrEnum):
    """Why usage can't be judged. The values are published and stable."""

    SCHEMA = "schema"
    IDENTITY = "identity"
    UNSUPPORTED_PROVIDER = "unsupported_provider"
    INCOMPLETE_MANIFEST = "incomplete_manifest"
    DUPLICATE_MANIFEST_IDENTITY = "duplicate_manifest_identity"
    RETRY_ROSTER = "retry_roster"
    MISSING_CHECKPOINT = "missing_checkpoint"
    BROKEN_CHAIN = "broken_chain"
    FORK = "fork"
    CYCLE = "cycle"
    SEQUENCE = "sequence"
    TERMINAL = "terminal"
    OUTCOME_MISMATCH = "outcome_mismatch"
    EXTRA_RECORD = "extra_record"
    CONFLICTING_DUPLICATE = "conflicting_duplicate"
    MISSING_RECORD = "missing_record"
    NESTED_BOUNDARY = "nested_boundary"
    INCOMPLETE_COVERAGE = "incomplete_coverage"
    DIGEST_MISMATCH = "digest_mismatch"
    RAW_UNKNOWN = "raw_unknown"
    TOKEN_TOTAL = "token_total"  # noqa: S105 - a fault's name, not a secret
    TOKEN_SUBSET = "token_subset"  # noqa: S105 - a fault's name, not a secret
    RAW_NORMALIZED_MISMATCH = "raw_normalized_mismatch"
    DUPLICATE_REQUEST = "duplicate_request"
    AGGREGATE_MISMATCH = "aggregate_mismatch"
    CUMULATIVE_REGRESSION = "cumulative_regression"
    LEDGER_REWRITE = "ledger_rewrite"
    REQUEST_REUSED_ACROSS_RUNS = "request_reused_across_runs"
    DUPLICATE_JSON_KEY = "duplicate_json_key"
    INPUT_READ = "input_read"


class AccountingError(EvidenceError):
    """Usage that can't be trusted. ``code`` is one of ``Fault``'s values; ``detail`` names the object at fault."""

    code: str

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(shorten(detail, 400), code=str(Fault(code)))

    @property
    def detail(self) -> str:
        """What is wrong with which object, on one line."""
        return self.problem
