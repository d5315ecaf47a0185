"""What a run's own log says, gathered entry by entry, and the rules that its order keeps. Pure.

The plan first; no cell graded twice or unplanned; the list of files last and nothing behind it. Left out: whether the
bytes are those that were signed (``ledger.verify``), and what the files hold.
"""

from __future__ import annotations

from proctor.ledger.checks import Finding
from proctor.ledger.entries import (
    CellGrade,
    Entry,
    FileDigest,
    Recovered,
    RunEnd,
    RunFiles,
    RunPlan,
    RunVerdict,
    SelfTest,
    WorkerLog,
)

__all__ = ["RunLog"]

_KINDS = (RunPlan, SelfTest, WorkerLog, CellGrade, RunVerdict, RunFiles, RunEnd, Recovered)


class RunLog:
    """A run's log as values. ``grades`` keeps number and entry of each cell's grade, in the log's order."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.findings: list[Finding] = []
        self.plan: RunPlan | None = None
        self.selftests: list[SelfTest] = []
        self.workers: dict[str, WorkerLog] = {}
        self.grades: dict[str, tuple[int, CellGrade]] = {}
        self.verdict: RunVerdict | None = None
        self.files: list[FileDigest] = []
        self.is_ended = False
        self.recoveries = 0
        self._parts_open = False

    def take(self, seq: int, t_ns: int, entry: Entry) -> None:
        """The next entry."""
        if seq == 0 and not isinstance(entry, RunPlan):
            self._note(
                seq, "first_not_plan", "the log does not begin with the plan", expected="run.plan", found=entry.kind
            )
        if self.is_ended:
            self._note(seq, "after_end", "an entry stands behind the end of the run", found=entry.kind)
        if not isinstance(entry, _KINDS):
            self._note(seq, "wrong_log", "an entry that belongs into a worker's log", found=entry.kind)
        if self._parts_open and isinstance(entry, Recovered):
            self.files.clear()  # a crash came between its parts, and the list is made anew
        elif self._parts_open and not isinstance(entry, RunFiles | RunEnd):
            self._note(seq, "files_cut", "the list of files is broken off", expected="run.end", found=entry.kind)
        self._parts_open = isinstance(entry, RunFiles)
        self._sort(seq, entry)

    def _sort(self, seq: int, entry: Entry) -> None:
        if isinstance(entry, RunPlan):
            if self.plan is not None:
                self._note(seq, "second_plan", "a second plan in one log")
            self.plan = self.plan or entry
        elif isinstance(entry, SelfTest):
            self.selftests.append(entry)
        elif isinstance(entry, WorkerLog):
            self.workers[entry.origin] = entry
        elif isinstance(entry, CellGrade):
            cell = f"{entry.caseId}/{entry.run}"
            if cell in self.grades:
                first = self.grades[cell][0]
                self._note(
                    seq,
                    "graded_twice",
                    f"cell {cell} is graded twice",
                    expected="one grade a cell",
                    found=f"entry {first} too",
                )
            self.grades[cell] = (seq, entry)
        elif isinstance(entry, RunVerdict):
            self.verdict = entry
        elif isinstance(entry, RunFiles | RunEnd):
            self.files.extend(entry.files)
            self.is_ended = isinstance(entry, RunEnd)
        elif isinstance(entry, Recovered):
            self.recoveries += 1

    def _note(self, seq: int, code: str, problem: str, **facts: object) -> None:
        self.findings.append(Finding.at(self._folder, code, problem, field=f"entry {seq}", **facts))
