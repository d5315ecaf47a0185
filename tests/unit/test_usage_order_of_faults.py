"""Every fault has its code, and of several the one that comes first in the published order is reported."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from proctor.usage import reduce_usage
from proctor.usage.faults import Fault
from usage_kit import pair, rehash, request, usual

Pair = tuple[dict[str, Any], list[dict[str, Any]]]
Change = Callable[[dict[str, Any], list[dict[str, Any]]], Any]


def put(*path: Any) -> Change:
    """Set ``path[:-2]`` → key ``path[-2]`` to ``path[-1]``; the path starts with m or r."""

    def change(m: Any, r: Any) -> None:
        owner = m if path[0] == "m" else r
        for step in path[1:-2]:
            owner = owner[step]
        owner[path[-2]] = path[-1]

    return change


def drop(*path: Any) -> Change:
    def change(m: Any, r: Any) -> None:
        owner = m if path[0] == "m" else r
        for step in path[1:-1]:
            owner = owner[step]
        del owner[path[-1]]

    return change


def shrink(m: Any, r: Any) -> None:
    """The later snapshot spends less, with an honest request list of its own."""
    lower = request("q-1", 10, 5)
    r[1]["request_evidence"] = [lower]
    r[1]["usage"] = dict(lower["normalized"])


def fork(m: Any, r: Any) -> None:
    m["checkpoints"].append({**m["checkpoints"][1], "checkpoint_id": "cp-0-9"})


RAW = ("r", 0, "request_evidence", 0, "raw_usage")

# In the published order. Each change alone gives its code; with any later one besides, still its code.
FAULTS: list[tuple[str, Change]] = [
    ("schema", put("m", "unknown", 1)),
    ("unsupported_provider", put("m", "provenance", "adapter", "anthropic.messages")),
    ("incomplete_manifest", put("m", "attempt_set_closed", False)),
    ("duplicate_manifest_identity", lambda m, r: m["runs"].append(dict(m["runs"][0]))),
    ("identity", put("m", "attempts", 1, "run_ids", ["run-1", "run-0"])),
    ("retry_roster", put("m", "attempts", 0, "retry_index", 1)),
    ("missing_checkpoint", put("m", "checkpoints", 0, "parent_checkpoint_id", "cp-none")),
    ("broken_chain", put("m", "checkpoints", 1, "parent_checkpoint_id", None)),
    ("fork", fork),
    ("cycle", put("m", "checkpoints", 0, "parent_checkpoint_id", "cp-0-1")),
    ("sequence", put("m", "checkpoints", 1, "sequence", 2)),
    ("terminal", put("m", "runs", 0, "terminal_checkpoint_id", "cp-0-0")),
    ("outcome_mismatch", put("m", "checkpoints", 0, "state", "failed")),
    ("schema", drop(*RAW)),
    ("extra_record", put("r", 0, "checkpoint_id", "cp-none")),
    ("conflicting_duplicate", lambda m, r: r.append({**copy.deepcopy(r[0]), "sequence": 7})),
    ("missing_record", lambda m, r: r.pop()),
    ("identity", put("r", 0, "session_id", "another")),
    ("nested_boundary", put("r", 0, "boundary", "nested")),
    ("incomplete_coverage", put("r", 0, "coverage_complete", 1)),
    ("digest_mismatch", put("m", "checkpoints", 0, "record_sha256", "0" * 64)),
    ("schema", put("r", 0, "usage", "cached_tokens", True)),
    ("token_total", put("r", 0, "usage", "total_tokens", 81)),
    ("token_subset", put("r", 0, "usage", "reasoning_tokens", 21)),
    ("unsupported_provider", put("r", 0, "request_evidence", 0, "provider", "anthropic.messages")),
    ("raw_unknown", put(*RAW, None)),
    ("token_total", put(*RAW, "total_tokens", 81)),
    ("token_subset", put(*RAW, "input_tokens_details", "cached_tokens", 61)),
    ("raw_normalized_mismatch", put(*RAW, "input_tokens_details", "cached_tokens", 6)),
    ("duplicate_request", lambda m, r: r[0]["request_evidence"].append(copy.deepcopy(r[0]["request_evidence"][0]))),
    ("aggregate_mismatch", put("r", 0, "usage", "cached_tokens", 6)),
    ("cumulative_regression", shrink),
    ("ledger_rewrite", put("r", 1, "request_evidence", 0, "request_id", "q-9")),
    ("request_reused_across_runs", put("r", 2, "request_evidence", 0, "request_id", "q-1")),
]
STAGE_OF_DIGESTS = 20


def code_of(manifest: Any, records: Any) -> str:
    result = reduce_usage(manifest, records)
    assert result["totals"] is None
    assert result["gate_pass"] is False
    assert len(result["errors"]) == 1
    return str(result["errors"][0]["code"])


@pytest.mark.parametrize(("number", "code"), list(enumerate(code for code, _ in FAULTS)))
def test_each_fault_has_its_code(number: int, code: str) -> None:
    manifest, records = usual()
    FAULTS[number][1](manifest, records)
    if number != STAGE_OF_DIGESTS:
        rehash(manifest, records)
    assert code_of(manifest, records) == code


def test_of_two_faults_the_earlier_one_is_reported() -> None:
    n_checked = 0
    for first, (code, change) in enumerate(FAULTS):
        for second, (_, later) in enumerate(FAULTS[first + 1 :], start=first + 1):
            manifest, records = usual()
            try:
                later(manifest, records)
                change(manifest, records)
            except (KeyError, TypeError, IndexError):
                continue  # the two can't both be made
            if STAGE_OF_DIGESTS not in (first, second):
                rehash(manifest, records)
            alone = usual()
            change(*alone)
            if FAULTS[second][0] in ("fork", "cycle") and FAULTS[first][0] in ("broken_chain", "missing_checkpoint"):
                continue  # both write the same field
            found = code_of(manifest, records)
            n_checked += 1
            assert found == code or writes_same_place(first, second), (code, FAULTS[second][0], found)
    assert n_checked > 450


def writes_same_place(first: int, second: int) -> bool:
    """Pairs in which the second change undoes, or moves, what the first one looks at."""
    return (FAULTS[first][0], FAULTS[second][0]) in {
        ("fork", "cycle"),
        ("token_total", "token_subset"),
    }


def test_all_codes_of_the_reducer_are_covered() -> None:
    from_files = {Fault.DUPLICATE_JSON_KEY, Fault.INPUT_READ}
    assert {code for code, _ in FAULTS} | {str(code) for code in from_files} == {str(code) for code in Fault}


def test_ties_go_to_the_smallest_id_and_details_name_it() -> None:
    manifest, records = usual()
    records[2]["boundary"] = records[1]["boundary"] = "nested"
    rehash(manifest, records)
    assert "cp-0-1.boundary" in reduce_usage(manifest, records)["errors"][0]["detail"]
    assert "cp-0-1.boundary" in reduce_usage(manifest, records[::-1])["errors"][0]["detail"]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, float("nan"), object(), [[]], {"schema_version": True}])
def test_any_object_at_all_gets_an_answer(value: Any) -> None:
    manifest, records = usual()
    assert code_of(value, records) == "schema"
    if value != []:
        assert code_of(manifest, value) == "schema"
    assert code_of(manifest, [value]) == "schema"


def test_hostile_objects_get_an_answer() -> None:
    class Evil(dict[str, Any]):
        def keys(self) -> Any:
            raise RuntimeError("no")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no")

        __hash__ = None  # type: ignore[assignment]

    manifest, records = usual()
    loop: list[Any] = []
    loop.append(loop)
    deep: Any = {}
    for _ in range(100_000):
        deep = {"x": deep}
    for bad in (Evil(), loop, deep, "\ud800", 10**5000, float("inf"), {1: 2}, (1,), {"a"}):
        root = copy.copy(records[0])
        records[0] = {**root, "request_evidence": [{**root["request_evidence"][0], "raw_usage": {"extra": bad}}]}
        assert code_of(manifest, records) == "schema"
        records[0] = root


def test_a_failed_attempt_and_an_exceeded_budget_close_the_gate_but_equal_passes() -> None:
    manifest, records = pair([[request("a", 60, 20)]], [[request("b", 40, 10)]], failed=(0,))
    manifest["budget"] = {"total_tokens": 130, "requests": 1}
    result = reduce_usage(manifest, records)
    assert (result["gate_pass"], result["failed_attempt_ids"]) == (False, ["attempt-0"])
    assert (result["budget_exceeded"], result["totals"]["total_tokens"]) == (["requests"], 130)
    manifest, records = usual()
    manifest["budget"] = {"total_tokens": 180, "requests": 3}
    assert reduce_usage(manifest, records)["gate_pass"] is True


def test_a_lone_surrogate_is_refused_in_every_string_of_both_documents() -> None:
    for change in (put("m", "provenance", "sdk_version", "\ud800"), put("m", "evaluation_id", "\ud800")):
        manifest, records = usual()
        change(manifest, records)
        assert code_of(manifest, records) == "schema"
    manifest, records = usual()
    records[0]["request_evidence"][0]["raw_usage"]["\ud800"] = 1
    assert code_of(manifest, records) == "schema"
