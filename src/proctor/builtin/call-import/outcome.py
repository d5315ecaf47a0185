"""Findings about what the register holds: missing, late, foreign, repeated, wrong, misplaced rows; lost recoveries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from account import Row
from measures import Measures, Moment
from truth import FileTruth

from proctor import Evidence, Finding


def outcome_findings(measures: Measures) -> Iterator[Finding]:
    """All of them, at the end of the last cycle."""
    moment = measures.moment(measures.truth.cycles)
    yield from _absent(measures, moment)
    yield from _foreign(measures, moment)
    yield from _repeated(moment)
    yield from _wrong(measures, moment)
    yield from _misplaced(measures, moment)
    yield from _lost(measures, moment)


def _absent(measures: Measures, moment: Moment) -> Iterator[Finding]:
    for file in measures.truth.admissible:
        rows = moment.by_id.get(file.file_id)
        if not rows:
            yield Finding(
                code="missing_row",
                detail=f"{file.file_id} was due in cycle {file.due}",
                cycle=file.due,
                expected=file.expected(measures.zone_of(file)),
            )
        elif (first := measures.first_cycle[file.file_id]) > file.deadline:
            yield Finding(
                code="late_row",
                detail=f"{file.file_id} was due in cycle {file.due}",
                steps=(min(row.step for row in rows),),
                cycle=first,
                expected=f"by the end of cycle {file.deadline}",
                found=f"cycle {first}",
            )


def _foreign(measures: Measures, moment: Moment) -> Iterator[Finding]:
    for file_id, rows in moment.by_id.items():
        file = measures.truth.files.get(file_id)
        steps, cycle = tuple(row.step for row in rows), rows[0].cycle
        if file is None:
            yield Finding(code="ghost_row", detail="no such file", steps=steps, cycle=cycle, found=file_id)
        elif not file.admissible:
            yield Finding(
                code="false_success",
                detail=f"{file_id} is inadmissible ({file.fault})",
                steps=steps,
                cycle=cycle,
                expected="a report, and no row",
                found=dict(rows[0].values),
            )


def _repeated(moment: Moment) -> Iterator[Finding]:
    for file_id, rows in moment.by_id.items():
        if len(rows) > 1:
            yield Finding(
                code="duplicate_row",
                detail=file_id,
                steps=tuple(row.step for row in rows),
                cycle=max(row.cycle for row in rows),
                expected=1,
                found=len(rows),
            )


def _wrong(measures: Measures, moment: Moment) -> Iterator[Finding]:
    for file in measures.truth.admissible:
        for row in moment.by_id.get(file.file_id, ())[-1:]:
            zone = measures.zone_of(file)
            expected = file.expected(zone)
            for name in measures.wrong_fields(row):
                yield Finding(
                    code=_cause(file, row, zone) if name == "started_local" else "wrong_field",
                    detail=f"{file.file_id}.{name}",
                    steps=(row.step,),
                    cycle=row.cycle,
                    field=name,
                    expected=expected[name],
                    found=row.values.get(name),
                )


def _cause(file: FileTruth, row: Row, zone: str) -> str:
    """What a wrong start came from, where its value tells."""
    found = str(row.values.get("started_local")).replace("Z", "+00:00")
    if found in file.created_local.values() or found == file.created_utc:
        return "used_created_at"
    if found == file.started_utc or any(found == text for version, text in file.local.items() if version != zone):
        return "ignored_zone"
    return "wrong_field"


def _misplaced(measures: Measures, moment: Moment) -> Iterator[Finding]:
    files = measures.truth.files
    rows = [rows[0] for file_id, rows in moment.by_id.items() if file_id in files and files[file_id].admissible]
    for before, after in pairwise(rows):
        if files[before.file_id].rank > files[after.file_id].rank:
            later = max(before, after, key=lambda row: row.step)
            yield Finding(
                code="wrong_order",
                detail=f"{after.file_id} belongs before {before.file_id}",
                steps=(later.step,),
                cycle=later.cycle,
                expected=[after.file_id, before.file_id],
                found=[before.file_id, after.file_id],
            )


def _lost(measures: Measures, moment: Moment) -> Iterator[Finding]:
    for fault in measures.account.faults:
        lost = measures.unrecovered(fault, moment)
        if lost:
            yield Finding(
                code="unrecovered_fault",
                detail=f"{fault.kind} fault {fault.phase} {fault.tool}",
                steps=(fault.step,),
                cycle=fault.cycle,
                expected="every file that it touched in its right final state",
                found=lost[:20],
            )


def record_findings(evidence: Evidence, measures: Measures) -> Iterator[Finding]:
    """Whether the final state is what the recorded events and writes make of it."""
    account = measures.account
    files = {row["file_id"]: dict(row) for row in evidence.after.rows("files")}
    arrivals = [row["file_id"] for row in sorted(evidence.after.rows("arrivals"), key=lambda row: row["number"])]
    if files != account.files or arrivals != account.arrivals:
        different = sorted(i for i in files.keys() | account.files.keys() if files.get(i) != account.files.get(i))
        yield Finding(
            code="source_changed",
            detail="files or list entries differ from the recorded events",
            expected={i: account.files.get(i) for i in different[:5]} or account.arrivals[-5:],
            found={i: files.get(i) for i in different[:5]} or arrivals[-5:],
        )
    rows = sorted(evidence.after.rows("register"), key=lambda row: row["position"])
    actual = [{name: value for name, value in row.items() if name not in ("position", "cycle")} for row in rows]
    replayed = [dict(row.values) for row in account.register]
    if actual != replayed:
        at = next((n for n, pair in enumerate(zip(actual, replayed, strict=False)) if pair[0] != pair[1]), None)
        place = min(len(actual), len(replayed)) if at is None else at
        yield Finding(
            code="register_contradicts_log",
            detail=f"first difference at row {place + 1}",
            expected=replayed[place : place + 1],
            found=actual[place : place + 1],
        )


def stability_findings(falls: list[tuple[int, str, tuple[int, int], tuple[int, int]]]) -> Iterator[Finding]:
    """Each metric that fell from one cycle to the next."""
    for cycle, name, before, after in falls:
        yield Finding(
            code="metric_fell",
            detail=f"{name} over the files then due",
            cycle=cycle,
            field=name,
            expected=f"{before[0]}/{before[1]} or more, as in cycle {cycle - 1}",
            found=f"{after[0]}/{after[1]}",
        )
