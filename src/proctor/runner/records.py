"""Scoring recorded results from files or from values: the shell around the grid.

Everything that can't be scored raises ``InvalidEvaluation`` before anything is written. Left out: what a report looks
like (``report.records``), the command (``cli.score``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.errors import InputError, InvalidEvaluation, Place, UsageError
from proctor.gate.decide import decide_board
from proctor.gate.model import Policy
from proctor.gate.policy import Known, parse_policy
from proctor.grade.record_plugins import RecordGraderProcess
from proctor.grade.records import RecordProgram
from proctor.report.records import GridReport, RecordFacts, board_of
from proctor.runner.record_files import open_lines, result_files
from proctor.score.case_table import CaseTable, CaseTableBuilder
from proctor.score.grid import CustomJudge, Grid, check_repeats
from proctor.score.grid_figures import grid_figures
from proctor.score.record_faults import as_invalid, parse_strictly
from proctor.suite.load import Suite, builtin_suites, load_suite
from proctor.suite.meta import CaseMeta, load_meta, meta_path

__all__ = [
    "RecordSuite",
    "evaluate_files",
    "evaluate_records",
    "grade_record",
    "load_jsonl",
    "load_record_suite",
]


class RecordSuite:
    """A suite that can score records: its compiled section and its gate."""

    def __init__(self, suite: Suite) -> None:
        if suite.spec.records is None:
            raise UsageError(
                f"the suite {suite.spec.name} has no records to score",
                place=suite.place(""),
                expected="[records] in suite.toml",
                fix="run an agent on it with proctor run",
            )
        self.suite = suite
        self.program = RecordProgram.compile(suite.spec.records, suite.place)
        self.policy = self._read_gate(suite.spec.records.slices)

    def _read_gate(self, slices: Sequence[str]) -> Policy:
        known = Known(codes=self.program.labels, slices=slices, metrics=())
        try:
            return parse_policy(self.suite.gate_values, self.suite.gate_place(""), known=known)
        except InputError as error:
            path = error.place.field if error.place and error.place.field else ""
            error.place = self.suite.gate_place(path.removeprefix("gate").removeprefix("."))
            raise


def load_record_suite(reference: str | Path | None) -> RecordSuite:
    """A suite by folder or name; None is the one that ships as the default. Raises ``SuiteError``."""
    if reference is not None:
        return RecordSuite(load_suite(reference))
    return _default_suite()


@lru_cache(maxsize=1)
def _default_suite() -> RecordSuite:
    for name in builtin_suites():
        suite = load_suite(name)
        if suite.spec.records is not None and suite.spec.records.default:
            return RecordSuite(suite)
    raise UsageError("no suite that ships is the default", expected="a suite", fix="name one with --suite")


def load_jsonl(path: str | Path) -> list[dict[str, Any]]:
    """All rows of a JSONL file, read strictly. Raises ``InvalidEvaluation`` with file, line and field."""
    with open_lines(Path(path)) as (lines, _):
        return [parse_strictly(raw, str(path), number) for number, raw in enumerate(lines, 1)]


def grade_record(
    case: Mapping[str, Any], result: Mapping[str, Any] | None, *, suite: str | Path | None = None
) -> list[str]:
    """The failure labels of one result of one case, in order; none for a pass. ``result`` None is a missing one.

    ``case`` is a row of the suite's dataset (the one that ships as the default, if no suite is named). Of ``result``,
    what it answered is judged: its identity is only held against the case. Raises ``InvalidEvaluation`` for a case
    that can't be used, or a result of another case.
    """
    records = load_record_suite(suite)
    cases = CaseTableBuilder(records.program, "case")
    cases.take_rows([case])
    table = cases.finish()
    if result is None:
        return records.program.names(1)
    identity = {"version": records.program.spec.version, "candidate": "candidate", "case_id": table.ids[0], "run": 1}
    if not isinstance(result, Mapping):
        return ["schema"]
    if result.get("case_id", table.ids[0]) != table.ids[0]:
        raise InvalidEvaluation(
            "the result is another case's",
            place=Place("result", 1, "case_id"),
            expected=repr(table.ids[0]),
            found=result["case_id"],
            fix="give each result with its own case",
        )
    keys = set(records.program.types.body_keys)
    if not keys <= set(result) or not set(result) <= keys | set(identity):
        return ["schema"]
    with _custom(records) as judge:
        grid = Grid(records.program, table, "candidate", 1, judge)
        grid.take_rows([{**identity, **{key: result[key] for key in keys}}])
        grid.finish()
    return records.program.names(grid.masks[0])


def evaluate_records(
    dataset: Iterable[Mapping[str, Any]],
    results: Iterable[Mapping[str, Any]],
    candidate: str,
    repeats: int = 3,
    suite: str | Path | None = None,
    *,
    synthetic_only: bool | None = None,
) -> GridReport:
    """Score a candidate's results against a dataset, both as rows (``load_jsonl`` reads them from files).

    ``suite`` is a folder or the name of a suite; None is the one that ships as the default. ``synthetic_only`` says
    whether no real model made the results, where the caller knows better than the suite. Returns a report whose
    ``to_dict`` is what the command writes. Raises ``InvalidEvaluation`` where the command exits 2.
    """
    records = load_record_suite(suite)
    check_repeats(repeats)
    builder = CaseTableBuilder(records.program, None)
    builder.take_rows(_rows(dataset, "dataset"))
    with _custom(records) as judge:
        grid = Grid(records.program, builder.finish(), candidate, repeats, judge)
        grid.take_rows(_rows(results, "results"))
        return _finish(records, grid, None, None, synthetic_only)


def evaluate_files(
    dataset: Path,
    results: Sequence[Path],
    candidate: str,
    *,
    repeats: Any,
    suite: RecordSuite,
    synthetic_only: bool | None = None,
) -> GridReport:
    """Score files: ``results`` are files, or folders of ``.jsonl``. Raises ``InvalidEvaluation``."""
    check_repeats(repeats)
    builder = CaseTableBuilder(suite.program, str(dataset))
    with open_lines(dataset) as (lines, digest):
        builder.take_lines(lines)
        inputs: dict[str, Any] = {"dataset": {"file": _name(dataset), "sha256": digest()}, "results": []}
    table = builder.finish()
    groups = _groups(dataset, table)
    with _custom(suite) as judge:
        grid = Grid(suite.program, table, candidate, repeats, judge)
        for path in result_files(results):
            with open_lines(path) as (lines, digest):
                rows = grid.take_lines(lines, str(path))
                inputs["results"].append({"file": _name(path), "rows": rows, "sha256": digest()})
        return _finish(suite, grid, groups, inputs, synthetic_only)


def _finish(
    records: RecordSuite,
    grid: Grid,
    groups: tuple[int, ...] | None,
    inputs: dict[str, Any] | None,
    synthetic_only: bool | None,
) -> GridReport:
    explained = grid.finish()
    spec = records.suite.spec
    return GridReport(
        grid=grid,
        figures=grid_figures(grid),
        decision=decide_board(records.policy, board_of(grid, groups)),
        facts=RecordFacts(
            suite=spec.name,
            suite_version=spec.version,
            suite_digest=records.suite.digest,
            synthetic_only=spec.synthetic_only if synthetic_only is None else synthetic_only,
            synthetic_says="suite" if synthetic_only is None else "caller",
            inputs=inputs,
            groups=groups,
        ),
        explained=explained,
    )


def _name(path: Path) -> str:
    """A path as text that a report can hold, whatever bytes the file's name is made of."""
    return str(path).encode("utf-8", "backslashreplace").decode()


@contextlib.contextmanager
def _custom(records: RecordSuite) -> Iterator[CustomJudge | None]:
    program = records.program
    if not program.custom:
        yield None
        return
    with RecordGraderProcess(records.suite.folder, program.custom, program.grader_error) as judge:
        yield judge


def _rows(rows: Any, name: str) -> Iterable[Any]:
    if isinstance(rows, (str, bytes, Path, Mapping)) or not isinstance(rows, Iterable):
        raise InvalidEvaluation(
            f"the {name} are no rows" if name == "results" else "the dataset is no list of rows",
            place=Place(name),
            expected="a list of objects",
            found=type(rows).__name__,
            fix="read a file with proctor.load_jsonl",
        )
    return rows


def _groups(dataset: Path, table: CaseTable) -> tuple[int, ...] | None:
    """Each case's group as a number, from the sidecar. Raises ``InvalidEvaluation`` for one that doesn't fit."""
    try:
        meta = load_meta(dataset)
    except InputError as error:
        raise as_invalid(error) from error
    if not meta:
        return None
    name = str(meta_path(dataset))
    for number, entry in enumerate(meta.values(), 1):
        _check_meta(entry, table, Place(name, number, "id"))
    numbers: dict[tuple[str, str], int] = {}
    return tuple(numbers.setdefault(_cluster(case, meta.get(case)), len(numbers)) for case in table.ids)


def _cluster(case: str, entry: CaseMeta | None) -> tuple[str, str]:
    return ("case", case) if entry is None or entry.group is None else ("group", entry.group)


def _check_meta(entry: CaseMeta, table: CaseTable, place: Place) -> None:
    if entry.id not in table.position:
        raise InvalidEvaluation(
            "unknown case in the sidecar",
            place=place,
            expected="the id of a case of the dataset",
            found=entry.id,
            fix="remove the row, or restore the case",
        )
    if entry.review == "disputed":
        raise InvalidEvaluation(
            f"the case {entry.id} is disputed, so it may not count as truth",
            place=Place(place.file, place.line, "review"),
            expected="reviewed or unreviewed",
            found="disputed",
            fix="settle it, or score a version of the dataset without it",
            code="disputed",
        )
