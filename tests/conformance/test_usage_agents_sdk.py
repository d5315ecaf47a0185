"""What the OpenAI Agents SDK reports, scenario by scenario: the right total, never the naive sum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.usage import AccountingError
from proctor.usage.agents_sdk import SdkUsage, last_of_resumes, read_run_state, union_of_branches
from proctor.usage.imports import read_sdk_dump

EXPECTED = {
    "01": [(1, 120, 30, 150)],
    "02": [(2, 260, 30, 290)],
    "03": [(3, 450, 55, 505)],
    "04": [(4, 360, 29, 389)],
    "05": [(4, 360, 29, 389)],
    "06": [(5, 230, 25, 255)],
    "07": [(1, 100, 20, 120)],
    "08": [(3, 303, 30, 333)],
    "09": [(2, 220, 19, 239)],
    "10": [(2, 170, 17, 187)],
    "11": [(2, 40, 3, 43)],
    "12": [(2, 250, 30, 280)],
    "13": [(2, 150, 10, 160)],
    "14": [(1, 1000, 50, 1050)] * 2 + [(1, 10, 5, 15)] * 4 + [(1, 0, 0, 0)] * 2
    + [(1, 1000, 50, 1050)] * 2 + [(1, 0, 0, 0)] * 2,
    "15": [(1, 100, 10, 110), (1, 100, 10, 110), None],
    "16": [(3, 401, 43, 444)],
    "17": [(4, 310, 24, 334)],
}  # fmt: skip
VERIFIED = {("14", 0), ("14", 2), ("14", 4), ("14", 8)}


def figures(counts: dict[str, Any] | None) -> tuple[Any, ...] | None:
    if counts is None:
        return None
    return tuple(counts[key] for key in ("requests", "input_tokens", "output_tokens", "total_tokens"))


def read_scenario(value: dict[str, Any]) -> list[SdkUsage]:
    if "cases" in value:
        return [read_sdk_dump({"context_usage": None, **case["result"]}) for case in value["cases"]]
    if "rejected_branch" in value:
        branches = [read_sdk_dump(value[name]) for name in ("rejected_branch", "approved_branch")]
        assert [figures(branch.sdk_reported) for branch in branches] == [(2, 250, 31, 281), (2, 251, 32, 283)]
        return [union_of_branches(read_sdk_dump(value["first"]), branches)]
    return [read_sdk_dump(value)]


def test_the_seventeen_scenarios_give_their_totals_and_verify_only_what_raw_usage_proves(conformance: Path) -> None:
    files = sorted((conformance / "usage" / "agents-sdk").glob("*.json"))
    assert [file.name[:2] for file in files] == list(EXPECTED)
    for file in files:
        name = file.name[:2]
        found = read_scenario(json.loads(file.read_bytes()))
        assert [figures(usage.sdk_reported) for usage in found] == EXPECTED[name], file.name
        for number, usage in enumerate(found):
            if (name, number) in VERIFIED:
                assert figures(usage.verified) == EXPECTED[name][number]
            else:
                assert usage.verified is None, (file.name, number)
                assert usage.doubts, "what isn't verified says why"


def test_details_are_read_in_all_three_shapes(conformance: Path) -> None:
    folder = conformance / "usage" / "agents-sdk"
    first = read_scenario(json.loads((folder / "01_single_turn.json").read_bytes()))[0].sdk_reported
    assert first is not None
    assert (first["cached_tokens"], first["reasoning_tokens"]) == (64, 12)
    spans = json.loads((folder / "06_runner_retries_then_success.json").read_bytes())["trace_spans"]
    by_spans = read_sdk_dump(spans).sdk_reported
    assert by_spans is not None
    assert by_spans["cached_tokens"] == 96


def test_a_serialised_state_is_continued_by_its_resume_and_by_nothing_else(conformance: Path) -> None:
    value = json.loads((conformance / "usage" / "agents-sdk" / "16_rejected_and_forked_state.json").read_bytes())
    state = read_run_state(value["run_state"])
    branch, other = read_sdk_dump(value["approved_branch"]), read_sdk_dump(value["rejected_branch"])
    assert last_of_resumes([state, branch]) is branch
    with pytest.raises(AccountingError, match="inherited from the segment before were changed") as caught:
        last_of_resumes([other, branch])
    assert caught.value.code == "ledger_rewrite"
    with pytest.raises(AccountingError, match="falls from") as caught:
        last_of_resumes([branch, state])
    assert caught.value.code == "cumulative_regression"


def test_run_states_of_every_schema_are_read_and_unusable_ones_refused(conformance: Path) -> None:
    folder = conformance / "usage" / "agents-sdk" / "run_state_fixtures"
    versions = set()
    for file in sorted(folder.glob("*/*.json")):
        value = json.loads(file.read_bytes())
        if file.parent.name == "negative":
            with pytest.raises(AccountingError) as caught:
                read_run_state(value)
            assert caught.value.code == "schema"
            assert "SENTINEL" not in str(caught.value)
            continue
        usage = read_run_state(value)
        versions.add(value["$schemaVersion"])
        assert usage.verified is None
        assert usage.sdk_reported is not None
        assert usage.sdk_reported["input_tokens"] == value["context"]["usage"]["input_tokens"]
    assert versions == {f"1.{minor}" for minor in range(18)}
