"""What a run will cost before it is made: from earlier runs of the same agent over the same suite, or from pilot cells.

A pilot is a real, partial run that stays in the workspace like any other: it spends, so it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.errors import ProctorError
from proctor.runner.record import RunRecord
from proctor.runner.run import RunRequest, run_suite
from proctor.score.cells import CellUsage
from proctor.stats.forecast import Forecast, forecast_sum
from proctor.suite.load import load_suite
from proctor.suite.plan import Selection

__all__ = ["PILOT_CELLS", "Estimate", "estimate_run"]

PILOT_CELLS = 5


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Cells, and a forecast of each figure; None where no measured cell knows it. ``tokens`` and ``usd`` are the
    agent's claims where nothing better is known, and ``claimed`` says so."""

    cells: int
    measured_cells: int
    source: str
    seconds: Forecast | None
    tokens: Forecast | None
    usd: Forecast | None
    claimed: bool


def estimate_run(request: RunRequest, *, workspace: Path) -> Estimate:
    """Forecast a run. Makes a pilot of ``PILOT_CELLS`` cases if the workspace holds no earlier run to go by."""
    suite = load_suite(request.suite)
    cells = len(suite.cases(request.seed)) * (request.runs or suite.spec.runs)
    usages, n_runs = _measured(workspace, suite.spec.name, request.agent)
    source = f"{n_runs} earlier run{'s' if n_runs != 1 else ''}"
    if not usages:
        finished = run_suite(
            RunRequest(
                suite=request.suite,
                agent=request.agent,
                runs=1,
                seed=request.seed,
                isolation=request.isolation,
                selection=Selection(limit=PILOT_CELLS),
            )
        )
        usages = _usages_of(finished.folder)
        source = f"a pilot: {finished.folder}"
    claimed = all(usage.tokens is None for usage in usages)
    return Estimate(
        cells=cells,
        measured_cells=len(usages),
        source=source,
        seconds=forecast_sum([u.seconds for u in usages if u.seconds is not None], cells),
        tokens=forecast_sum([float(t) for u in usages if (t := _tokens(u)) is not None], cells),
        usd=forecast_sum(
            [c for u in usages if (c := u.usd if u.usd is not None else u.claimed_usd) is not None], cells
        ),
        claimed=claimed,
    )


def _tokens(usage: CellUsage) -> int | None:
    return usage.tokens if usage.tokens is not None else usage.claimed_tokens


def _measured(workspace: Path, suite: str, agent: str) -> tuple[list[CellUsage], int]:
    usages: list[CellUsage] = []
    n_runs = 0
    for run in _runs_in(workspace):
        try:
            record = RunRecord(run)
            if (record.plan.suite, record.plan.candidate.agent) == (suite, agent):
                usages += _usages_of(run)
                n_runs += 1
        except ProctorError:
            continue  # a damaged run says nothing about what another will cost
    return usages, n_runs


def _runs_in(workspace: Path) -> Iterator[Path]:
    if workspace.is_dir():
        yield from sorted(path.parent for path in workspace.glob("*/plan.json"))


def _usages_of(run: Path) -> list[CellUsage]:
    return [row.usage for row in RunRecord(run).recorded_cells.values() if row.attempts]
