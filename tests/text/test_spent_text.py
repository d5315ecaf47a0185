"""What a run spent and what one would cost, as a person reads it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli.run import run as run_command
from proctor.cli.usage import usage
from proctor.stats.forecast import forecast_sum
from proctor.stats.ratio import ratio_estimate
from refund_kit import GOOD, copy_suite, run_agent, write_agent

CLAIM = """
usage = {"input_tokens": 60, "output_tokens": 20, "total_tokens": 80,
         "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
rpc("usage", request_id="r1", provider="openai.responses", raw_usage=usage)
"""


def test_usage_show_names_what_is_unknown_and_what_is_claimed(tmp_path: Path) -> None:
    run = run_agent(tmp_path, CLAIM + GOOD)
    shown = CliRunner().invoke(usage, ["show", str(run.folder)]).output
    assert "usage     unknown: not every request is known to be covered: no total" in shown
    assert "claimed   2 requests, 160 tokens" in shown
    assert "attempts  2, of them 0 retries and 0 failed" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_usage_show_of_no_run_says_what_to_give(tmp_path: Path) -> None:
    result = CliRunner().invoke(usage, ["show", str(tmp_path)])
    assert "can't read the report" in str(result.exception)


def test_estimate_makes_a_pilot_once_and_then_goes_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = copy_suite(tmp_path)
    agent = write_agent(tmp_path, CLAIM + GOOD)
    monkeypatch.chdir(tmp_path)
    arguments = [str(suite), "--agent", agent, "--estimate"]
    first = CliRunner().invoke(run_command, arguments)
    assert "6 cells; forecast from 2 measured ones (a pilot: runs/" in first.output
    second = CliRunner().invoke(run_command, arguments)
    assert "6 cells; forecast from 2 measured ones (1 earlier run)" in second.output
    assert "tokens   480   95% range 480 to 480 (as the agent claims)" in second.output
    assert "US$      unknown" in second.output


def test_a_forecast_grows_with_the_cells_and_knows_its_range() -> None:
    assert forecast_sum([], 10) is None
    one = forecast_sum([2.0], 10)
    assert one is not None
    assert (one.expected, one.low, one.high) == (20.0, None, None)
    two = forecast_sum([1.0, 3.0], 10)
    assert two is not None
    # by hand: mean 2, s = sqrt(2), t(0.975, 1) = 12.7062, half = 12.7062 * sqrt(2) * sqrt(10 + 100 / 2)
    assert two.high == pytest.approx(20 + 12.706204736 * math.sqrt(2) * math.sqrt(60))
    assert two.low == 0.0


def test_cost_per_pass_counts_what_failed_cells_spent() -> None:
    estimate = ratio_estimate([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], ["a", "b", "c", "d"])
    assert estimate is not None
    assert estimate.value == pytest.approx(4 / 3)
    # residuals −1/3 three times and 1: sum of squares 4/3; variance 4/3 · 4/3 / 9; t(0.975, 3) = 3.182446
    assert estimate.high == pytest.approx(4 / 3 + 3.182446305 * math.sqrt(16 / 81))
    assert ratio_estimate([1.0], [0.0], ["a"]) is None
    alone = ratio_estimate([1.0], [1.0], ["a"])
    assert alone is not None
    assert alone.high is None
