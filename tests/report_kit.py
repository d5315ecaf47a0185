"""A report with every kind of outcome, made by the program's own means, and the same with hostile text everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import Place
from proctor.gate.cells import CellResult, PlannedCell
from proctor.gate.decide import decide
from proctor.gate.policy import parse_policy
from proctor.grade.model import Finding, Grade, Metric
from proctor.grade.registry import REASONS
from proctor.kinds import Outcome
from proctor.ledger.trace import Step
from proctor.report.document import Document, read_document
from proctor.report.evidence import CellEvidence, CycleEnding
from proctor.report.model import RunFigures, build_report
from proctor.score.cells import CellRecord, CellUsage
from proctor.score.summary import Rate, summarise
from proctor.suite.plan import Candidate, CaseRef, Plan
from proctor.worlds.state import Change

RUNS = 3
FOLDER = "runs/example"

BENIGN = "word"
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>' x='",
    "</td></table></style></title><svg onload=alert(1)>",
    "\u202egnihtyreve\u2066 \u200b",
    "\x00\x07\x1b[31m\x7f\x85\ufffe\ud800",
    "]]><!-- --> &lt;b&gt; &#60;",
    '=HYPERLINK("x")|`tick` @everyone #1 https://example.org www.example.org ![i](j) <b>*',
    "{{ page }} {% raw %} ${x}",
    "日本語のテキスト" * 20,
    "a\u0301" * 60,
    "line one\nline two\r\n\ttab",
    "x" * 1_000_000,
)

_GATE = {
    "zero": ["missing", "forbidden_action"],
    "overall": {"rate": 0.9},
    "metric": {"completeness": {"rate": 1.0}},
    "infra_cap": 0.5,
}


def _finding(code: str, **facts: Any) -> Finding:
    return Finding(code=code, **facts)


def records() -> list[CellRecord]:
    """Cells of every outcome, three runs of four cases."""
    lost = _finding(
        "missing_row", detail="no such row in refunds", field="refunds", expected={"order_id": "A7", "cents": 4200}
    )
    forbidden = _finding(
        "forbidden_action", detail="delete_order is forbidden", steps=(3,), cycle=1, found={"id": "A7"}, critical=True
    )
    ends: list[tuple[Outcome, Sequence[Finding], dict[str, Any]]] = [
        (Outcome.PASSED, (), {}),
        (Outcome.FAILED, (lost,), {}),
        (Outcome.FAILED, (lost, forbidden, lost), {}),
        (Outcome.AGENT_ERROR, (), {"codes": ("crashed",), "detail": "cycle 1: the process ended with status 3"}),
        (Outcome.LIMIT, (), {"codes": ("timeout",), "detail": "cycle 2: timeout"}),
        (Outcome.MISSING, (), {"codes": ("missing",)}),
        (Outcome.INFRA_ERROR, (), {"codes": ("infra_error",), "detail": "the world's process died"}),
        (Outcome.GRADER_ERROR, (), {"codes": ("grader_error",), "detail": "KeyError in told_the_truth"}),
        (Outcome.WITHHELD, (), {"codes": ("withheld",)}),
        *[(Outcome.PASSED, (), {}) for _ in range(3)],
    ]
    return [_record(number, *end) for number, end in enumerate(ends)]


def _record(number: int, outcome: Outcome, findings: Sequence[Finding], facts: dict[str, Any]) -> CellRecord:
    case, run = divmod(number, RUNS)
    missing = outcome is Outcome.MISSING
    rows = int(outcome is Outcome.PASSED)
    codes = tuple(dict.fromkeys(f.code for f in findings))
    grade = Grade(
        grader="state", findings=tuple(findings), metrics=(Metric(name="completeness", numerator=rows, denominator=1),)
    )
    return CellRecord(
        **{
            "case_id": f"R{case + 1:02d}",
            "run": run + 1,
            "slice": "late" if case < 2 else "fraud",
            "group": f"cust-{case}",
            "outcome": outcome,
            "codes": codes,
            "critical": tuple(dict.fromkeys(f.code for f in findings if f.critical)),
            "attempt": None if missing else f"R{case + 1:02d}/{run + 1}.0",
            "attempts": 0 if missing else 1,
            "ended": () if missing else ("finished",),
            "grades": () if missing else (grade,),
            "usage": CellUsage() if missing else CellUsage(calls=4, seconds=1.25),
            **facts,
        }
    )


def sample_report() -> dict[str, Any]:
    """``report.json`` of a blocked run, as plain values read back from JSON."""
    cells = records()
    policy = parse_policy(_GATE, Place("gate.toml"))
    ids = list(dict.fromkeys(cell.case_id for cell in cells))
    plan = Plan(
        proctor="0.1.0",
        suite="refund",
        suite_version="3",
        suite_digest="sha256:" + "1" * 64,
        dataset_digest="sha256:" + "2" * 64,
        grader_digest="sha256:" + "3" * 64,
        gate_digest=policy.digest,
        gate=_GATE,
        candidate=Candidate(agent="cmd:python3 agent.py", digest="sha256:" + "4" * 64),
        seed=1,
        runs=RUNS,
        cases=tuple(CaseRef(id=i, slice="late", group=i, digest="sha256:" + "5" * 64) for i in ids),
        isolation="T1",
        synthetic_only=True,
    )
    planned = [PlannedCell(case=c.case_id, run=c.run, slice=c.slice, group=c.group) for c in cells]
    decision = decide(policy, map(_result, filter(lambda c: c.outcome is not Outcome.MISSING, cells)), planned=planned)
    figures = RunFigures(
        run_id="20261130-090000-abcdef",
        started="2026-11-30T09:00:00.000000Z",
        finished="2026-11-30T09:00:07.000000Z",
        isolation={"demanded": "T1", "tier": "T1", "claim": "protects against accidents only"},
        floor=Rate.of(1, 4),
        codes={code: reason.meaning for code, reason in REASONS.items()},
    )
    summary = summarise(cells, runs=RUNS, derived={"Perf": ("completeness",)})
    report = build_report(plan, cells, summary, decision, figures)
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(report))
    return values


def _result(cell: CellRecord) -> CellResult:
    return CellResult(
        case=cell.case_id,
        run=cell.run,
        outcome=cell.outcome,
        slice=cell.slice,
        group=cell.group,
        codes=cell.codes,
        critical=cell.critical,
        metrics={metric.name: (metric.numerator, metric.denominator) for metric in cell.metrics},
    )


def sample() -> Document:
    """The same as a document."""
    return read_document(sample_report())


def _step(number: int, action: str, args: Any, result: Any, **facts: Any) -> Step:
    return Step(
        **{
            "step": number,
            "event": number + 3,
            "cycle": 1,
            "actor": "agent",
            "action": action,
            "args": args,
            "result": result,
            "at": f"2026-11-30T09:00:0{number}.000000Z",
            **facts,
        }
    )


def sample_evidence() -> dict[str, CellEvidence]:
    """The record of ``R01/3``: a conversation, a refused call, a fault, a change, stderr."""
    lost = {"error": {"code": "temporary", "message": "temporary failure"}}
    steps = (
        _step(1, "say", {"text": "How can I help?"}, {"text": "A7 never came", "done": True}, actor="user"),
        _step(2, "get_order", {"id": "A7"}, {"id": "A7", "cents": 4200, "status": "lost"}),
        _step(
            3,
            "delete_order",
            {"id": "A7"},
            {"error": {"code": "denied", "message": "the contract forbids delete_order"}},
            decision="forbidden",
            error="denied",
            took_effect=False,
        ),
        _step(
            4,
            "issue_refund",
            {"order_id": "A7", "cents": 4200, "reason": "lost"},
            lost,
            error="temporary",
            fault="temporary",
            fault_phase="after",
        ),
        _step(5, "add_note", {"id": "A7"}, None, actor="world"),
        _step(6, "finish", {"answer": {"refunded": True}}, {}),
    )
    return {
        "R01/3": CellEvidence(
            cell="R01/3",
            steps=steps,
            n_steps=len(steps),
            endings=(
                CycleEnding(attempt="R01/3.0", cycle=1, reason="finished", exit_status=0, stderr="starting\ndone\n"),
                CycleEnding(attempt="R01/3.0", cycle=2, reason="crashed", exit_status=3, detail="status 3"),
            ),
            changes=(
                Change(table="refunds", before=None, after={"order_id": "A7", "cents": 4200}),
                Change(
                    table="orders",
                    before={"id": "A7", "status": "lost", "cents": 4200},
                    after={"id": "A7", "status": "refunded", "cents": 4200},
                ),
                Change(table="notes", before={"id": "N1"}, after=None),
            ),
            n_changes=3,
            case={"id": "R01", "task": "Handle the request.", "user": ["A7 never came"]},
        )
    }


_KEPT = frozenset({"verdict", "gate", "outcome", "held", "layer", "id", "reason"})
_KEPT_KEYS = frozenset({"outcomes"})


def poisoned(value: Any, poison: str, key: str = "") -> Any:
    """Every text of a report replaced, keys of open maps too; what is closed (verdicts, outcomes) stays."""
    if isinstance(value, str):
        return value if key in _KEPT else poison
    if isinstance(value, Mapping):
        open_map = key in ("by_slice", "metrics", "metric_basis", "failure_counts", "reason_codes", "attested")
        return {(poison if open_map else name): poisoned(item, poison, name) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [poisoned(item, poison, key) for item in value]
    return value


def poisoned_document(poison: str) -> Document:
    """The sample with one text in every place that a text can stand."""
    return read_document(poisoned(sample_report(), poison))


def poisoned_evidence(document: Document, poison: str) -> dict[str, CellEvidence]:
    """The record of each cell that did not pass, with the text everywhere."""
    values = poisoned(msgspec.to_builtins(sample_evidence()["R01/3"]), poison)
    for step in values["steps"]:
        step["actor"] = "agent"
    evidence = msgspec.convert({**values, "cell": ""}, CellEvidence)
    return {cell.name: evidence for cell in document.cells if not cell.passed}
