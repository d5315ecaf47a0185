"""``report.json`` read back as typed values: what every rendering is made from. Pure.

Strict where a value is given, with the place of a fault; generous with what a report may lack, since reports of
recorded results have no isolation, traces or run of their own. Unknown keys are left alone: later versions add some.
Left out: making the report (``report.model``) and files (``report.load``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.codec.models import convert
from proctor.errors import InputError, Place
from proctor.gate.model import Held
from proctor.kinds import Outcome, Verdict
from proctor.report.model import REPORT_VERSION
from proctor.score.cells import CellUsage
from proctor.score.summary import MetricFigure, Rate

__all__ = ["Cell", "Document", "Estimate", "Finding", "Reliability", "Rule", "Spread", "read_document"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One reason why a cell fails, and the grader that says so."""

    code: str
    grader: str = ""
    detail: str = ""
    steps: tuple[int, ...] = ()
    cycle: int = 0
    field: str | None = None
    expected: Any = None
    found: Any = None
    critical: bool = False

    @property
    def has_values(self) -> bool:
        """Whether it says what was expected or found."""
        return self.expected is not None or self.found is not None


class States(msgspec.Struct, frozen=True, kw_only=True):
    """Digests of the databases a cell began and ended with."""

    before: str | None = None
    after: str | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """How a planned cell ended."""

    case_id: str
    run: int
    passed: bool
    slice: str = ""
    group: str = ""
    outcome: Outcome | None = None
    failures: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    detail: str = ""
    findings: tuple[Finding, ...] = ()
    metrics: dict[str, float | None] = {}
    attempts: int | None = None
    ended: tuple[str, ...] = ()
    usage: CellUsage = CellUsage()
    trace: str | None = None
    states: States = States()

    @property
    def name(self) -> str:
        """``CASE/RUN``."""
        return f"{self.case_id}/{self.run}"

    @property
    def end(self) -> Outcome:
        """How it ended; worked out from the labels where the report doesn't say."""
        if self.outcome is not None:
            return self.outcome
        if self.passed:
            return Outcome.PASSED
        labels = [outcome for outcome in (Outcome.MISSING, Outcome.GRADER_ERROR) if outcome.value in self.failures]
        return labels[0] if labels else Outcome.FAILED


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the gate with its figure: ``figure`` counts unresolved cells as failed, ``figure_best`` as passed."""

    layer: str
    rule: str
    asks: str
    held: Held
    threshold: float | None = None
    figure: float | None = None
    figure_best: float | None = None
    numerator: int | None = None
    denominator: int | None = None
    cells: tuple[str, ...] = ()
    cells_against: int = 0
    note: str = ""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Who was evaluated."""

    agent: str
    digest: str | None = None
    attested: dict[str, str] = {}


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The overall rate with unresolved cells counted as failed and as passed."""

    low: float | None = None
    high: float | None = None
    unresolved: int = 0


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """An interval, or the ``reason`` why there is none."""

    low: float | None = None
    high: float | None = None
    method: str = ""
    confidence: float = 0.95
    reason: str = ""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A rate over ``cells`` in ``clusters`` independent clusters, with its interval."""

    cells: int
    clusters: int
    rate: float | None
    interval: Spread


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """The chance that all of ``k`` runs of a case pass, and that any does; None where it can't be told."""

    k: int
    cases: int
    all_of_k: float | Spread | None = None
    any_of_k: float | Spread | None = None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates: unresolved cells count as failed in ``low`` and as passed in ``high``; recorded results have no
    unresolved cells, and ``overall`` instead."""

    low: Estimate | None = None
    high: Estimate | None = None
    overall: Estimate | None = None
    reliability: tuple[Reliability, ...] = ()
    slices: dict[str, Estimate] = {}

    @property
    def whole(self) -> Estimate | None:
        """Of all cells, unresolved ones counted as failed."""
        return self.low or self.overall


class Isolated(msgspec.Struct, frozen=True, kw_only=True):
    """The isolation tier that held, and what it allows to be claimed."""

    tier: str
    claim: str = ""
    demanded: str = ""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent says it spent; None where its claims can't be read."""

    requests: int
    tokens: int | None = None
    usd: float | None = None


class SliceUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a slice spent."""

    attempts: int
    tokens: int | None = None
    claimed: Claimed | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What the run spent: ``verified``, ``unknown`` or ``invalid``; without verified figures there are no totals."""

    status: str
    totals: dict[str, int | None] | None = None
    claimed: Claimed | None = None
    attempts: int = 0
    retries: int = 0
    failed_attempts: tuple[str, ...] = ()
    by_slice: dict[str, SliceUsage] = {}

    @property
    def tokens(self) -> int | None:
        """Verified tokens over all attempts."""
        return None if self.totals is None else self.totals["total_tokens"]


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Which run, and when (UTC)."""

    id: str
    started: str = ""
    finished: str = ""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A report. Rates have their counts; what is unknown is None."""

    schema_version: int = REPORT_VERSION
    suite: str = ""
    suite_version: str = ""
    candidate: Candidate | str
    verdict: str
    reasons: tuple[str, ...] = ()
    overall: Rate
    overall_bounds: Bounds = Bounds()
    statistics: Statistics | None = None
    coverage: float | Rate | None = None
    all_runs_pass: Rate | None = None
    by_run: tuple[Rate, ...] = ()
    by_slice: dict[str, Rate] = {}
    do_nothing_floor: Rate | None = None
    metrics: dict[str, float | None] = {}
    metric_basis: dict[str, MetricFigure] = {}
    outcomes: dict[str, int] = {}
    failure_counts: dict[str, int] = {}
    reason_codes: dict[str, str] = {}
    gate_basis: tuple[Rule, ...] = ()
    synthetic_only: bool = False
    seed: int | None = None
    planned_cells: int | None = None
    partial: bool = False
    plan_digest: str | None = None
    suite_digest: str | None = None
    dataset_digest: str | None = None
    grader_version: str | None = None
    gate_digest: str | None = None
    rules_changed: bool = False
    proctor_version: str | None = None
    isolation: Isolated | None = None
    not_claimed: tuple[str, ...] = ()
    usage: Usage | None = None
    run: RunInfo | None = None
    cells: tuple[Cell, ...] = ()

    @property
    def decision(self) -> Verdict:
        """The verdict as a closed set."""
        return Verdict[self.verdict]

    @property
    def agent(self) -> str:
        """Who was evaluated, as it was named."""
        return self.candidate if isinstance(self.candidate, str) else self.candidate.agent

    @property
    def covered(self) -> float | None:
        """Share of the planned cells that a result came back for."""
        return self.coverage.rate if isinstance(self.coverage, Rate) else self.coverage


def read_document(report: Mapping[str, Any], *, file: str | None = None) -> Document:
    """A report from plain values. Raises ``InputError`` with the field, what was expected and what was found."""
    values = dict(report)
    values.setdefault("verdict", values.get("gate"))
    if "explained" in values:
        values.update(_of_records(values))
    version = values.get("schema_version", REPORT_VERSION)
    if version != REPORT_VERSION:
        raise InputError(
            "this report is of a version that can't be read here",
            place=Place(file, field="schema_version"),
            expected=str(REPORT_VERSION),
            found=version,
            fix="use the Proctor that wrote it",
        )
    document = convert(values, Document, place=lambda path: Place(file, field=path or None), error=InputError)
    if document.verdict not in Verdict.__members__:
        raise InputError(
            "unknown verdict",
            place=Place(file, field="verdict"),
            expected=", ".join(Verdict.__members__),
            found=document.verdict,
            fix="make the report again from its run",
        )
    return document


def _of_records(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a report of recorded results says in its own words: why cells failed, what labels mean."""
    explained, owners, cells = values["explained"], values.get("failure_owners"), values.get("cells")
    if not isinstance(explained, list) or not isinstance(owners, dict) or not isinstance(cells, list):
        return {}
    why: dict[Any, list[Any]] = {}
    for row in explained:
        if isinstance(row, dict) and isinstance(row.get("findings"), list):
            findings = [{"code": f.get("label"), **f} for f in row["findings"] if isinstance(f, dict)]
            why[str(row.get("case_id")), str(row.get("run"))] = findings
    with_why = [
        {"findings": why.get((str(cell.get("case_id")), str(cell.get("run"))), []), **cell}
        if isinstance(cell, dict)
        else cell
        for cell in cells
    ]
    meanings = {label: owner.get("meaning", "") for label, owner in owners.items() if isinstance(owner, dict)}
    return {"cells": with_why, "reason_codes": meanings, "usage": None}  # their usage is per field of the budget
