"""Check a whole run: its logs, its files, its plan, its cells. Needs the folder and believed keys, nothing
else.

In this order: 1 the run's log, 2 the order of its entries, 3 every worker's log and its place in the run's, 4
every file, 5 traces, texts, states and grades against the logs, 6 the plan's cells, 7 the seal, 8 grading
again, if the caller gives a way. Each step adds findings; none stops the next. Left out: grading itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import EvidenceError, InfrastructureError, InputError, Place
from proctor.ledger.checks import Finding, LogCheck
from proctor.ledger.closing import LEDGER_NAME, SEAL_NAME
from proctor.ledger.texts import TextReader
from proctor.ledger.trust import TrustFile
from proctor.ledger.verify import verify_log
from proctor.sandbox.tiers import isolation_files
from proctor.suite.plan import Plan
from proctor.verification.files import check_cells, check_digest, check_files, check_plain, check_states, check_traces
from proctor.verification.model import Gap, RegradeAnswer, Regrader, RunCheck
from proctor.verification.run_log import RunLog
from proctor.verification.seal import check_seal
from proctor.verification.standing import check_standing
from proctor.verification.worker_log import AttemptSeen, WorkerRecord

__all__ = ["verify_run"]

_WORKERS = "workers"


def verify_run(run: Path, trust: TrustFile, *, regrade: Regrader | None = None) -> RunCheck:
    """Check the run in folder ``run`` by the keys in ``trust``.

    Raises ``InputError`` where the folder holds no run at all, ``InfrastructureError`` where the disk fails;
    whatever is wrong with a run is in the findings.
    """
    if not (run / LEDGER_NAME).is_dir():
        raise InputError(
            "there is no run here",
            place=Place(str(run)),
            expected=f"a run's folder, with {LEDGER_NAME}/ in it",
            fix="name the folder that `proctor run` printed; for a bare log use --log-only",
            code="no_run",
        )
    try:
        return _RunVerification(run, trust).check(regrade)
    except OSError as error:
        raise InfrastructureError(
            f"a file can't be read: {error.strerror}",
            place=Place(error.filename and str(error.filename)),
            fix="see to the disk or the file's rights, then verify again",
            code="unreadable",
        ) from error


class _RunVerification:
    """One pass over one run."""

    def __init__(self, run: Path, trust: TrustFile) -> None:
        self.run = run
        self.trust = trust
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.log = RunLog(LEDGER_NAME)
        self.attempts: list[AttemptSeen] = []
        self.n_events = 0
        self.withheld: set[str] = set()

    def check(self, regrade: Regrader | None) -> RunCheck:
        plain = check_plain(self.run)
        head = self._run_log()
        self._workers(head)
        self._files(plain)
        self._contents()
        gaps = self._cells()
        self._beside(head)
        answer = self._again(regrade)
        plan = self.log.plan
        return RunCheck(
            run=str(self.run),
            run_id=plan.runId if plan else None,
            origin=head.origin,
            size=head.size,
            root=head.root.hex(),
            trust=head.trust,
            witnesses=head.witnesses,
            is_closed=self.log.is_ended and not head.is_open,
            planned=plan.cells if plan else 0,
            graded=len(self.log.grades),
            n_events=self.n_events,
            n_withheld=len(self.withheld),
            findings=tuple(dict.fromkeys((*self.findings, *answer.findings))),
            gaps=tuple(gaps),
            notes=tuple(self.notes),
            regrade=answer.status,
        )

    def _run_log(self) -> LogCheck:
        folder = self.run / LEDGER_NAME
        check = verify_log(folder, self.trust, visit=self.log.take, beside=frozenset((_WORKERS,)))
        self._add(check, LEDGER_NAME)
        self.findings.extend(self.log.findings)
        if not check.is_open and not self.log.is_ended and check.size:
            self._note(
                LEDGER_NAME, "no_end", "the log was closed without the run's end", expected="run.end as last entry"
            )
        if check.is_open:
            self.notes.append(f"the run's log was never closed: {check.size} whole entries, {check.signed_size} signed")
        if check.torn_bytes:
            self.notes.append(f"{LEDGER_NAME}/wal ends in {check.torn_bytes} bytes of an entry that was being written")
        return check

    def _add(self, check: LogCheck, folder: str) -> None:
        self.findings.extend(msgspec.structs.replace(one, file=f"{folder}/{one.file}") for one in check.findings)

    def _note(self, file: str, code: str, problem: str, **facts: Any) -> None:
        self.findings.append(Finding.at(file, code, problem, **facts))

    def _workers(self, head: LogCheck) -> None:
        """Every worker's log by itself, and as the run's log knows it."""
        texts = TextReader(self.run / "texts")
        run_id = self.log.plan.runId if self.log.plan else ""
        trust = msgspec.structs.replace(self.trust, quorum=0)  # witnesses sign the run's log, which holds the roots
        base = self.run / LEDGER_NAME / _WORKERS
        present = sorted(path.name for path in base.iterdir()) if base.is_dir() else []
        names = {origin.rpartition("/")[2]: origin for origin in self.log.workers}
        for name in present:
            folder = f"{LEDGER_NAME}/{_WORKERS}/{name}"
            if name not in names:
                self._note(folder, "extra_file", "a worker's log that the run's log does not know")
            if not (base / name).is_dir():
                continue
            record = WorkerRecord(folder, run_id, texts)
            check = verify_log(base / name, trust, visit=record.take)
            self._add(check, folder)
            self.findings.extend(record.findings)
            self._one_worker(check, folder, names.get(name))
            self.n_events += record.n_events
            self.withheld |= record.withheld
            self.attempts.extend(record.attempts.values())
        for name, origin in names.items():
            if name not in present:
                self._note(
                    f"{LEDGER_NAME}/{_WORKERS}/{name}", "missing_file", "a worker's log is missing", expected=origin
                )
        for path, at in texts.torn.items():
            place = path.relative_to(self.run).as_posix()
            self.notes.append(f"{place} ends in a text that was being written, from byte {at}")
            if self.log.is_ended:
                self._note(place, "torn_text", "the file of texts is cut short", field=f"byte {at}")

    def _one_worker(self, check: LogCheck, folder: str, origin: str | None) -> None:
        if origin is None:
            return
        known = self.log.workers[origin]
        if check.origin != origin:
            self._note(folder, "wrong_origin", "the worker's log is another's", expected=origin, found=check.origin)
        if check.is_open and self.log.is_ended:
            self._note(folder, "worker_open", "the run was closed before its worker's log", expected="a closed log")
        if known.size and (known.size, known.rootSha256) != (check.size, check.root.hex()):
            self._note(
                folder,
                "worker_differs",
                "the worker's log is not the one in the run's log",
                expected=f"{known.size} entries, root {known.rootSha256}",
                found=f"{check.size} entries, root {check.root.hex()}",
            )
        if self.log.is_ended and not known.size and check.size:
            self._note(folder, "worker_not_closed", "the run's log never took the worker's log in")
        if check.torn_bytes:
            self.notes.append(f"{folder}/wal ends in {check.torn_bytes} bytes of an entry that was being written")

    def _files(self, plain: list[Finding]) -> None:
        known = {(one.file, one.code) for one in self.findings}
        self.findings.extend(one for one in plain if (one.file, one.code) not in known)
        if self.log.is_ended:
            self.findings.extend(check_files(self.run, self.log.files))

    def _contents(self) -> None:
        """Files against the entries that hold their digests."""
        log = self.log
        if log.plan is not None:
            self.findings.extend(check_digest(self.run, "plan.json", log.plan.planDigest, "plan_differs"))
        for digest, name in isolation_files(entry.isolationDigest for entry in log.selftests).items():
            self.findings.extend(check_digest(self.run, name, digest, "isolation_differs"))
        if log.verdict is not None and log.is_ended:
            self.findings.extend(check_digest(self.run, "report.json", log.verdict.reportDigest, "report_differs"))
        self.findings.extend(check_cells(self.run, log))
        self.findings.extend(check_states(self.run, self.attempts))
        findings, withheld = check_traces(self.run, log.grades, self.attempts)
        self.findings.extend(findings)
        if self.withheld:
            self.notes.append(
                f"{len(self.withheld)} texts are withheld or lost; {len(withheld)} traces can't be made again"
            )

    def _cells(self) -> list[Gap]:
        """Planned cells without a grade; grades without a plan or an attempt are findings."""
        by_name = {attempt.name: attempt for attempt in self.attempts}
        for cell, (seq, grade) in self.log.grades.items():
            attempt = by_name.get(grade.attempt) if grade.attempt is not None else None
            if grade.attempt is not None and (attempt is None or attempt.ended is None or attempt.cell != cell):
                self._note(
                    LEDGER_NAME,
                    "grade_without_attempt",
                    f"cell {cell} is graded on an attempt that did not end in a worker's log",
                    field=f"entry {seq}",
                    found=grade.attempt,
                )
            elif (
                attempt is not None and attempt.ended is not None and attempt.ended.outcome not in (None, grade.outcome)
            ):
                self._note(
                    LEDGER_NAME,
                    "outcome_differs",
                    f"cell {cell} is graded otherwise than its attempt ended",
                    field=f"entry {seq}",
                    expected=attempt.ended.outcome,
                    found=grade.outcome,
                )
        planned = self._planned()
        if planned is None:
            return []
        for cell in self.log.grades.keys() - planned.keys():
            seq = self.log.grades[cell][0]
            self._note(LEDGER_NAME, "unplanned_cell", f"cell {cell} was graded but not planned", field=f"entry {seq}")
        return [Gap(cell=cell, state=self._state(cell)) for cell in planned if cell not in self.log.grades]

    def _planned(self) -> dict[str, None] | None:
        """The plan's cells in order; None where the plan can't be read (which is a finding already)."""
        if self.log.plan is None or not (self.run / "plan.json").is_file():
            return None
        try:
            plan = msgspec.json.decode((self.run / "plan.json").read_bytes(), type=Plan)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._note("plan.json", "bad_plan", "the plan can't be read", found=error)
            return None
        cells = dict.fromkeys(str(cell) for cell in plan.cells())
        if len(cells) != self.log.plan.cells:
            self._note(
                "plan.json",
                "plan_size",
                "the plan has another number of cells",
                expected=self.log.plan.cells,
                found=len(cells),
            )
        return cells

    def _state(self, cell: str) -> str:
        """How far a cell without a grade came."""
        seen = [attempt for attempt in self.attempts if attempt.cell == cell]
        if not seen:
            return "not started"
        last = seen[-1]
        if last.ended is None:
            return f"attempt {last.name} was interrupted after {last.steps} steps"
        return f"attempt {last.name} ended, not graded"

    def _beside(self, head: LogCheck) -> None:
        """The seal, and what the workspace's log says of this run."""
        found = check_seal(self.run, head.root.hex(), head.size, self.trust, head.origin)
        self.findings.extend(found)
        if (self.run / SEAL_NAME).exists() and not found:
            self.notes.append("sealed: the statement's signature, files and log hold")
        if self.log.plan is not None:
            findings, notes = check_standing(self.run, self.log.plan.runId, head, self.trust)
            self.findings.extend(findings)
            self.notes.extend(notes)

    def _again(self, regrade: Regrader | None) -> RegradeAnswer:
        if regrade is None:
            return RegradeAnswer(status="not asked")
        if self.findings or not self.log.is_ended:
            return RegradeAnswer(status="not done: the record is broken" if self.findings else "not done: not closed")
        try:
            return regrade(self.run)
        except EvidenceError as error:
            return RegradeAnswer(status="failed", findings=(Finding.of(error, "report.json"),))
