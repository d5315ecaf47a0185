"""The report of a recorded evaluation as data: ``report.json`` and every rendering is made from it. Pure.

The same cells give the same bytes, whatever order their results came in; only ``inputs`` names the files. A million
cells are written without a million objects. Left out: writing files, reading them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec
import numpy as np

from proctor._version import __version__
from proctor.codec.python_json import quote
from proctor.errors import shorten
from proctor.gate.board import BoolArray
from proctor.gate.columns import ColumnBoard
from proctor.gate.decide import Decision
from proctor.kinds import Verdict
from proctor.report.model import REPORT_VERSION
from proctor.score.grid import ExplainedCell, Grid
from proctor.score.grid_figures import GridFigures
from proctor.stats.cluster import Clusters
from proctor.stats.estimate import RateEstimate, rate_estimate
from proctor.stats.passk import pass_k_of_counts
from proctor.suite.records import FIRST_LABELS

__all__ = ["MEANING", "GridReport", "RecordFacts", "board_of"]

MEANING: Final = "PASS means only that these rules held on these cells; it is no proof of anything else."
_CASES_A_PIECE = 2048
_MOST_SHAPES = 100_000
_MOST_K = 10
_HERE: Final = "\x00"


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a report says beside the figures: the suite, where results came from, and who says they are synthetic.

    ``groups`` numbers each case's cluster, None where each case is its own.
    """

    suite: str
    suite_version: str
    suite_digest: str
    synthetic_only: bool
    synthetic_says: str
    inputs: dict[str, Any] | None
    groups: tuple[int, ...] | None = None
    disputed: int = 0


def board_of(grid: Grid, groups: Sequence[int] | None) -> ColumnBoard:
    """The grid as the gate reads it."""
    numbers = np.arange(len(grid.cases.ids)) if groups is None else np.asarray(groups)
    labels = grid.program.labels
    own = {label.name for label in grid.program.spec.label if label.critical}
    present = sorted(set(grid.cases.slices))
    renumber = {code: number for number, code in enumerate(present)}
    return ColumnBoard(
        case_ids=grid.cases.ids,
        repeats=grid.repeats,
        masks=np.frombuffer(grid.masks, dtype=np.uint32),
        codes=labels,
        slice_names=tuple(grid.cases.slice_names[code] for code in present),
        case_slices=np.array([renumber[code] for code in grid.cases.slices], dtype=np.intp),
        case_clusters=numbers.astype(np.intp),
        n_clusters=int(numbers.max()) + 1,
        critical_codes=sorted(own),
    )


@dataclass(frozen=True, kw_only=True)
class GridReport:
    """A scored candidate."""

    grid: Grid
    figures: GridFigures
    decision: Decision
    facts: RecordFacts
    explained: tuple[ExplainedCell, ...]
    holdout: Mapping[str, Any] | None = None

    @property
    def verdict(self) -> Verdict:
        """PASS, BLOCK, UNDECIDED or INVALID."""
        return self.decision.verdict

    @property
    def summary_line(self) -> str:
        """``fixture_good: 18/18 (100.0%) gate=PASS``."""
        overall = self.figures.overall
        share = "no cells" if overall.rate is None else f"{overall.rate:.1%}"
        if share == "100.0%" and overall.passed < overall.total:
            share = "99.9%"
        return f"{shorten(self.grid.candidate)}: {overall.passed}/{overall.total} ({share}) gate={self.verdict.name}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, keys in reading order."""
        return {**self.head(), "cells": list(self.cells())}

    def head(self) -> dict[str, Any]:
        """Everything but the cells."""
        return dict(self._plain_head)

    @cached_property
    def _plain_head(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self._head(), enc_hook=repr))
        return plain

    def _head(self) -> dict[str, Any]:
        spec = self.grid.program.spec
        figures: dict[str, Any] = msgspec.to_builtins(self.figures)
        usage, weighted = figures.pop("usage"), figures.pop("traffic_weighted")
        owners = self._owners()
        return {
            "dataset_version": spec.version,
            "dataset_sha256": self.grid.cases.sha256,
            "grader_version": spec.grader_version,
            "candidate": self.grid.candidate,
            "synthetic_only": self.facts.synthetic_only,
            "repeats": self.grid.repeats,
            **figures,
            "gate": self.verdict.name,
            "meaning": MEANING,
            "verdict": self.verdict.name,
            "exit_code": self.verdict.exit_code,
            "reasons": list(self.decision.reasons),
            "overall_bounds": {
                "low": self.decision.rate_low,
                "high": self.decision.rate_high,
                "unresolved": self.decision.unresolved,
            },
            "traffic": None if spec.traffic is None else {"shares": spec.traffic, "rate": weighted},
            "statistics": self._statistics(),
            "usage": usage,
            "failure_owners": owners,
            "reason_codes": {name: row["meaning"] for name, row in owners.items()},
            "outcomes": self._outcomes(),
            "gate_basis": [msgspec.to_builtins(rule) for rule in self.decision.rules],
            "gate_digest": self.decision.policy_digest,
            "grader_digest": self.grid.program.digest,
            "suite": self.facts.suite,
            "suite_version": self.facts.suite_version,
            "suite_digest": self.facts.suite_digest,
            "synthetic_only_from": self.facts.synthetic_says,
            "planned_cells": len(self.grid.masks),
            "proctor_version": __version__,
            "schema_version": REPORT_VERSION,
            "holdout": self.holdout,
            "inputs": self.facts.inputs,
            "explained": [msgspec.to_builtins(cell) for cell in self.explained],
            "explained_of": self.figures.overall.total - self.figures.overall.passed,
        }

    def cells(self) -> Iterator[dict[str, Any]]:
        """The planned cells in dataset order, then run."""
        cases, names = self.grid.cases, self.grid.program.names
        for number, mask in enumerate(self.grid.masks):
            case, run = divmod(number, self.grid.repeats)
            yield {
                "case_id": cases.ids[case],
                "run": run + 1,
                "slice": cases.slice_names[cases.slices[case]],
                "failures": names(mask),
                "passed": mask == 0,
            }

    def pieces(self) -> Iterator[str]:
        """The report as JSON text in pieces: the head indented, then one cell a line."""
        head = json.dumps(self.head(), ensure_ascii=False, indent=1, allow_nan=False)
        yield head.removesuffix("\n}") + ',\n "cells": [\n'
        cases, repeats, masks = self.grid.cases, self.grid.repeats, self.grid.masks
        shapes: dict[tuple[int, bytes], str] = {}
        texts: list[str] = []
        last = len(cases.ids) - 1
        for case, case_id in enumerate(cases.ids):
            ended = masks[case * repeats : (case + 1) * repeats]
            key = cases.slices[case], ended.tobytes()
            shape = shapes.get(key)
            if shape is None:
                shape = self._shape(key[0], ended)
                if len(shapes) < _MOST_SHAPES:
                    shapes[key] = shape
            texts.append(shape.replace(_HERE, quote(case_id)))
            if len(texts) == _CASES_A_PIECE or case == last:
                yield ",\n".join(texts) + (",\n" if case != last else "\n")
                texts.clear()
        yield " ]\n}\n"

    def _shape(self, slice_code: int, masks: Sequence[int]) -> str:
        """The lines of a case whose runs ended like this, with a mark where its id goes."""
        name = quote(self.grid.cases.slice_names[slice_code])
        return ",\n".join(
            f'  {{"case_id": {_HERE}, "run": {run}, "slice": {name}, '
            f'"failures": {json.dumps(self.grid.program.names(mask))}, "passed": {"false" if mask else "true"}}}'
            for run, mask in enumerate(masks, 1)
        )

    def _statistics(self) -> dict[str, Any]:
        """How sure the rates are, as for a run: the independent unit is the case, or its group."""
        board = board_of(self.grid, self.facts.groups)
        low = self._estimate(board, board.passed)
        unresolved = board.unresolved
        passes = board.passed.reshape(-1, self.grid.repeats).sum(axis=1)
        counts = {passed: int(n) for passed, n in enumerate(np.bincount(passes)) if n}
        slices = {name: self._estimate(board, board.passed, board.slices.where(name)) for name in board.slice_names}
        return {
            "clusters_are": "cases" if self.facts.groups is None else "groups",
            "low": low,
            "high": self._estimate(board, board.passed | unresolved) if unresolved.any() else low,
            "reliability": [
                pass_k_of_counts(counts, self.grid.repeats, k) for k in range(1, min(self.grid.repeats, _MOST_K) + 1)
            ],
            "slices": slices,
            "worst_slice": min(slices, key=lambda name: (slices[name].rate or 0.0, name), default=None),
        }

    def _estimate(self, board: ColumnBoard, passed: BoolArray, here: BoolArray | None = None) -> RateEstimate:
        cells, clusters = (passed, board.clusters) if here is None else (passed[here], board.clusters[here])
        return rate_estimate(Clusters.of_codes(cells.astype(np.float64), clusters, board.n_clusters))

    def _outcomes(self) -> dict[str, int]:
        overall, counts = self.figures.overall, self.figures.failure_counts
        unresolved, missing = self.decision.unresolved, counts.get("missing", 0)
        outcomes = {
            "failed": overall.total - overall.passed - unresolved - missing,
            "grader_error": unresolved,
            "missing": missing,
            "passed": overall.passed,
        }
        return {name: count for name, count in outcomes.items() if count}

    def _owners(self) -> dict[str, Mapping[str, Any]]:
        """Who repairs what failed, for the labels that occur."""
        spec = self.grid.program.spec
        owners = {**dict.fromkeys(FIRST_LABELS, "infrastructure"), "grader_error": "grader", **spec.owners}
        meanings = {
            "missing": "a planned cell has no result",
            "schema": "the result's status, answer, actions or usage has the wrong shape",
            "execution": "the run ended in an error",
            "grader_error": "a grader broke, so this cell is not graded",
        }
        for label in spec.label:
            owners[label.name], meanings[label.name] = label.owner, label.meaning
        return {
            name: {"cells": count, "owner": owners[name], "meaning": meanings[name]}
            for name, count in self.figures.failure_counts.items()
        }
