"""What a run spent, from its record: unknown where the agent had a network, proven zero where it had none, and what the
agent claims stands beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from proctor.runner.run import FinishedRun
from proctor.usage import reduce_usage
from refund_kit import GOOD, copy_suite, edit, run_agent

CLAIM = """
usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
         "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
assert rpc("usage", request_id="r1", provider="openai.responses", raw_usage=usage)["result"] == {}
assert rpc("usage", request_id="r1", provider="openai.responses", raw_usage=usage)["result"] == {}
"""


def _usage(run: FinishedRun) -> dict[str, Any]:
    usage: dict[str, Any] = run.report["usage"]
    return usage


def test_without_knowing_every_request_nothing_is_known(tmp_path: Path) -> None:
    run = run_agent(tmp_path, GOOD, runs=2)
    usage = _usage(run)
    assert (usage["status"], usage["totals"], usage["claimed"]) == ("unknown", None, None)
    assert (usage["attempts"], usage["retries"], usage["failed_attempts"]) == (4, 0, [])
    assert run.report["cells"][0]["usage"]["tokens"] is None


def test_claims_stand_beside_and_count_once(tmp_path: Path) -> None:
    run = run_agent(tmp_path, CLAIM + GOOD, runs=2)
    assert _usage(run)["totals"] is None
    assert _usage(run)["claimed"] == {"requests": 4, "tokens": 480, "usd": None}
    assert run.report["cells"][0]["usage"]["claimed_tokens"] == 120


def test_a_claim_that_contradicts_itself_makes_the_claimed_total_unknown(tmp_path: Path) -> None:
    body = CLAIM + 'rpc("usage", request_id="r1", provider="openai.responses", raw_usage=None)\n'
    assert _usage(run_agent(tmp_path, body + GOOD))["claimed"] == {"requests": 2, "tokens": None, "usd": None}


def test_a_malformed_claim_is_answered_and_is_no_claim(tmp_path: Path) -> None:
    body = 'assert rpc("usage", provider=1)["error"]["code"] == -32602\n'
    run = run_agent(tmp_path, body + GOOD)
    assert _usage(run)["claimed"] is None
    assert run.report["overall"]["passed"] == 2


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: tier T2 can't be had here")
def test_no_network_proves_that_nothing_was_spent(tmp_path: Path) -> None:
    run = run_agent(tmp_path, GOOD, isolation="T2")
    assert _usage(run)["status"] == "verified"
    assert _usage(run)["totals"]["requests"] == 0
    assert run.report["cells"][0]["usage"]["tokens"] == 0


def test_the_files_give_the_result_again(tmp_path: Path) -> None:
    run = run_agent(tmp_path, "sys.exit(1)")
    manifest = json.loads((run.folder / "usage.manifest.json").read_bytes())
    records = json.loads((run.folder / "usage.records.json").read_bytes())
    assert [a["outcome"] for a in manifest["attempts"]] == ["failed", "failed"]
    assert reduce_usage(manifest, records)["errors"][0]["code"] == _usage(run)["errors"][0]["code"]
    assert len(_usage(run)["failed_attempts"]) == 2


def test_a_gate_that_requires_usage_blocks_what_is_unknown(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", "[gate]\n", '[gate]\nusage = "required"\n')
    run = run_agent(tmp_path, GOOD, suite=suite)
    assert run.report["verdict"] == "BLOCK"
    assert any("usage is unknown" in reason for reason in run.report["reasons"])
    assert {"budget_unknown"} == {code for cell in run.report["cells"] for code in cell["failures"]}
