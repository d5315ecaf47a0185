"""Provider conventions, captures from live objects, prices, and the executor's collector."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

import proctor.usage
from proctor.errors import UsageError
from proctor.usage import (
    AccountingError,
    capture_request,
    normalize_openai_responses,
    record_digest,
    reduce_usage,
    snapshot_sdk_usage,
)
from proctor.usage.collect import Collector, Coverage, reduce_cell, status_of, usage_id
from proctor.usage.prices import cost_of, load_prices
from proctor.usage.providers import normalize
from usage_kit import digest, request, usual

RESPONSES = request("q", 100, 20, 64, 5)["raw_usage"]
CHAT = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@pytest.mark.parametrize(
    ("provider", "raw", "expected"),
    [
        ("openai.responses", RESPONSES, (100, 20, 120, 64, 5)),
        ("openai.chat_completions", CHAT, (100, 20, 120, None, None)),
        ("openai.chat_completions", {**CHAT, "prompt_tokens_details": {"cached_tokens": 64}}, (100, 20, 120, 64, None)),
        (
            "openai.chat_completions",
            {**CHAT, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 30}},
            (100, 50, 150, None, 30),
        ),
        (
            "anthropic.messages",
            {"input_tokens": 3, "output_tokens": 9, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7},
            (100, 9, 109, 90, None),
        ),
        (
            "google.gemini",
            {"promptTokenCount": 100, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 9, "thoughtsTokenCount": 3,
             "cachedContentTokenCount": 50, "totalTokenCount": 117},
            (105, 12, 117, 50, 3),
        ),
        ("google.gemini", {"promptTokenCount": 14, "totalTokenCount": 14}, (14, 0, 14, None, None)),
        (
            "aws.bedrock_converse",
            {"inputTokens": 3, "outputTokens": 9, "cacheReadInputTokens": 90, "cacheWriteInputTokens": 7,
             "totalTokens": 109},
            (100, 9, 109, 90, None),
        ),
        (
            "cohere.chat",
            {"tokens": {"input_tokens": 100, "output_tokens": 9}, "billed_units": {}},
            (100, 9, 109, None, None),
        ),
    ],
)  # fmt: skip
def test_each_provider_counts_by_its_convention(provider: str, raw: Any, expected: tuple[Any, ...]) -> None:
    keys = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "reasoning_tokens")
    counts = normalize(provider, raw)
    assert (counts["requests"], *(counts[key] for key in keys)) == (1, *expected)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"input_tokens": None, "total_tokens": "x"}, "raw_unknown"),
        ({"input_tokens_details": None}, "raw_unknown"),
        ({"input_tokens_details": {}}, "raw_unknown"),
        ({"output_tokens_details": {"reasoning_tokens": None}}, "raw_unknown"),
        ({"total_tokens": 120.0}, "schema"),
        ({"input_tokens": True}, "schema"),
        ({"output_tokens": -1}, "schema"),
        ({"total_tokens": 121}, "token_total"),
        ({"input_tokens_details": {"cached_tokens": 101}}, "token_subset"),
    ],
)
def test_raw_usage_of_openai_responses_is_strict(change: dict[str, Any], code: str) -> None:
    with pytest.raises(AccountingError) as caught:
        normalize_openai_responses({**RESPONSES, **change})
    assert caught.value.code == code
    with pytest.raises(AccountingError, match="raw_usage is null or not an object"):
        normalize_openai_responses(None)


def test_iterations_that_add_up_to_more_than_the_top_level_are_refused() -> None:
    row = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    assert normalize("anthropic.messages", {**row, "iterations": [row]})["total_tokens"] == 7
    with pytest.raises(AccountingError, match=r"iterations add up to 10 \+ 4") as caught:
        normalize("anthropic.messages", {**row, "iterations": [row, row]})
    assert caught.value.code == "aggregate_mismatch"


def test_captures_are_detached_copies() -> None:
    raw, counts = {**RESPONSES, "extra": [1]}, dict(request("q", 100, 20, 64, 5)["normalized"])
    entry = capture_request("req-1", raw, counts)
    raw["extra"].append(2)
    counts["requests"] = 9
    assert entry == request("req-1", 100, 20, 64, 5, extra=[1])
    assert capture_request("req-1", None, counts)["raw_usage"] is None


def sdk(**changes: Any) -> Any:
    details = {
        "input_tokens_details": SimpleNamespace(cached_tokens=64),
        "output_tokens_details": SimpleNamespace(reasoning_tokens=5),
    }
    return SimpleNamespace(
        **{**details, "requests": 2, "input_tokens": 100, "output_tokens": 20, "total_tokens": 120, **changes}
    )


def test_an_sdk_usage_object_is_read_by_its_attributes() -> None:
    keys = ("requests", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "reasoning_tokens")
    assert snapshot_sdk_usage(sdk()) == dict(zip(keys, (2, 100, 20, 120, 64, 5), strict=True))
    for changes, code in (
        ({"input_tokens": None}, "raw_unknown"),
        ({"input_tokens_details": None}, "raw_unknown"),
        ({"requests": 1.0}, "schema"),
        ({"total_tokens": 1}, "token_total"),
    ):
        with pytest.raises(AccountingError) as caught:
            snapshot_sdk_usage(sdk(**changes))
        assert caught.value.code == code


def test_the_digest_is_sha256_of_sorted_compact_json_with_non_ascii_kept() -> None:
    for record in (*usual()[1], {"é\u2028": [1.5, 1e-7, "\x7f\b\\", 10**30]}):
        assert record_digest(record) == digest(record)
    with pytest.raises(AccountingError, match="lone surrogate"):
        record_digest({"x": "\udc00"})


def test_the_public_names_are_the_published_ones() -> None:
    assert sorted(proctor.usage.__all__) == [
        "AccountingError",
        "capture_request",
        "normalize_openai_responses",
        "record_digest",
        "reduce_usage",
        "snapshot_sdk_usage",
    ]


def test_cost_is_exact_by_class_of_token_and_unknown_stays_unknown() -> None:
    table = load_prices()
    counts = normalize("openai.responses", request("q", 1000, 100, 400)["raw_usage"])
    cost = cost_of(counts, "gpt-4o", table)
    assert (cost.input_usd, cost.cached_usd, cost.output_usd) == (
        Decimal("0.0015"),
        Decimal("0.0005"),
        Decimal("0.001"),
    )
    assert cost.as_json()["total_usd"] == "0.003"
    assert table.digest.startswith("sha256:")
    assert cost.table_digest == table.digest
    assert cost_of(counts, "a-model-nobody-knows", table).total_usd is None
    assert cost_of(counts, None, table).total_usd is None
    assert cost_of(None, "gpt-4o", table).total_usd is None
    partly = cost_of({**counts, "cached_tokens": None}, "gpt-4o", table)
    assert (partly.total_usd, partly.output_usd) == (None, Decimal("0.001"))


def collector() -> Collector:
    return Collector(evaluation_id="run/1", candidate_id="agent", budget_tokens=1000)


def test_attempts_registered_before_they_start_reduce_per_cell_and_over_all() -> None:
    ledger = collector()
    first = ledger.open_attempt("case a", "0")
    first.add_request("q1", "openai.responses", request("q1", 60, 20)["raw_usage"])
    first.checkpoint()
    first.add_request("q2", "openai.chat_completions", CHAT)
    first.close("failed", Coverage.ALL_PROXIED)
    ledger.open_attempt("case a", "0").close("succeeded", Coverage.NO_NETWORK)
    other = ledger.open_attempt("case b", "0")
    manifest, records = ledger.seal()
    assert other.outcome == "failed"
    whole = reduce_usage(manifest, records)
    assert (whole["totals"], status_of(whole)) == (None, "unknown")
    cell = reduce_cell(manifest, records, "case a", "0", {"total_tokens": 199, "requests": 9})
    assert (cell["totals"]["total_tokens"], cell["totals"]["requests"], cell["totals"]["cached_tokens"]) == (
        200,
        2,
        None,
    )
    assert (cell["budget_exceeded"], [row["retry_index"] for row in cell["attempts"]]) == (["total_tokens"], [0, 1])
    assert status_of(reduce_cell(manifest, records, "case b", "0")) == "unknown"
    records[0] = {**records[0], "sequence": 5}
    assert status_of(reduce_usage(manifest, records)) == "invalid"


def test_a_request_without_raw_usage_makes_the_total_unknown_not_smaller() -> None:
    ledger = collector()
    attempt = ledger.open_attempt("c", "0")
    attempt.add_request("q1", "openai.responses", RESPONSES)
    attempt.add_request("q2", "openai.responses", None)
    attempt.close("succeeded", Coverage.ALL_PROXIED)
    result = reduce_usage(*ledger.seal())
    assert (result["totals"], result["errors"][0]["code"], status_of(result)) == (None, "raw_unknown", "unknown")


def test_nothing_is_added_after_the_end() -> None:
    ledger = collector()
    attempt = ledger.open_attempt("c", "0")
    attempt.close("succeeded", Coverage.NO_NETWORK)
    with pytest.raises(UsageError, match="closed already"):
        attempt.checkpoint()
    ledger.seal()
    with pytest.raises(UsageError, match="sealed"):
        ledger.open_attempt("c", "0")


def test_names_that_are_no_ids_get_one_of_their_own() -> None:
    assert usage_id("case-1") == "case-1"
    assert usage_id("case 1") != usage_id("case 2")
    assert usage_id("\ud800").startswith("x-")
