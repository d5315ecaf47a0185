"""A small closed run, made by the ledger alone: for tests of what verification sees, without agents or worlds."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from proctor.clock import FixedClock
from proctor.codec.canonical import canonical_bytes, digest_bytes
from proctor.ledger.closing import close_run
from proctor.ledger.entries import (
    AgentEnd,
    AgentStart,
    AttemptEnd,
    AttemptStart,
    CallEntry,
    CellGrade,
    CycleEnd,
    CycleStart,
    Decision,
    Entry,
    FinalState,
    Finish,
    RunPlan,
    RunVerdict,
    SelfTest,
    WorkerLog,
    WorldReset,
)
from proctor.ledger.files import FileOps
from proctor.ledger.keys import Signer
from proctor.ledger.texts import TextStore
from proctor.ledger.trace import steps_of, trace_row
from proctor.ledger.trust import TRUST_NAME, TrustedKey, TrustFile, save_trust
from proctor.ledger.writer import LogWriter
from proctor.suite.plan import Candidate, CaseRef, Plan

SIGNER = Signer("test.local/a", b"\x01" * 32)
ISOLATION = b'{"tier":"T1"}\n'
TRUST = TrustFile(keys=(TrustedKey(role="log", vkey=SIGNER.public.vkey),))


class NoSync(FileOps):
    def sync(self, fd: int) -> None:
        pass


def plan_of(cases: int, runs: int) -> Plan:
    return Plan(
        proctor="0",
        suite="demo",
        suite_version="1",
        suite_digest="sha256:0",
        dataset_digest="sha256:0",
        grader_digest="sha256:0",
        gate_digest="sha256:0",
        gate={},
        candidate=Candidate(agent="builtin:x", digest="sha256:0"),
        seed=1,
        runs=runs,
        cases=tuple(CaseRef(id=f"C{n}", slice="all", group=f"C{n}", digest="sha256:0") for n in range(cases)),
        isolation="T1",
    )


class Builder:
    """Writes a run step by step; ``stop_after`` cells, it is left as a crash would leave it."""

    def __init__(self, run: Path, *, run_id: str = "r1", cases: int = 2, runs: int = 2) -> None:
        self.run, self.run_id, self.plan = run, run_id, plan_of(cases, runs)
        self.clock = FixedClock()
        run.mkdir(parents=True)
        (run / "traces").mkdir()
        (run / "states").mkdir()
        self.log = self._open("run", run / "ledger")
        self.worker = self._open("worker/00", run / "ledger/workers/00")
        self.texts = TextStore.create(run / "texts/00", ops=NoSync())

    def _open(self, name: str, folder: Path) -> LogWriter:
        parts = ("run", self.run_id) if name == "run" else ("run", self.run_id, name)
        return LogWriter.create(folder, origin=SIGNER.origin(*parts), signer=SIGNER, clock=self.clock, ops=NoSync())

    def register(self) -> None:
        data = self.plan.to_bytes()
        (self.run / "plan.json").write_bytes(data)
        (self.run / "isolation.json").write_bytes(ISOLATION)
        self.log.append(RunPlan(cells=self.plan.size, planDigest=digest_bytes(data), runId=self.run_id))
        self.log.append(SelfTest(isolationDigest=digest_bytes(ISOLATION), tier="T1"))
        self.log.append(WorkerLog(origin=self.worker.origin, rootSha256=self.worker.root.hex(), size=0))
        self.log.commit()

    def attempt(self, case: str, run: int, *, calls: int = 3, finish: bool = True) -> list[bytes]:
        """One attempt; the rows of its trace."""
        name = f"{case}/{run}.0"
        rows: list[bytes] = []
        texts: dict[str, bytes] = {}

        def text(data: bytes) -> str:
            ref = self.texts.put(data)
            texts[ref] = data
            return ref

        def put(entry: Entry) -> None:
            seq = self.worker.append(entry)
            for _, step in steps_of([(seq, self.worker.last_ns, entry)], texts.__getitem__):
                rows.append(msgspec.json.encode(trace_row(self.run_id, case, run, name, step)))

        put(AttemptStart(attempt=name, caseId=case, retry=0, run=run, worldSeed="1"))
        put(WorldReset(attempt=name, bytesSha256="0", snapshotSha256="0"))
        put(CycleStart(attempt=name, cycle=1))
        put(AgentStart(attempt=name, cycle=1, messageRef=text(b'{"start":1}')))
        for step in range(1, calls + 1):
            args, result = text(b'{"id":%d}' % step), text(b'{"ok":true,"n":%d}' % step)
            put(
                CallEntry(
                    argsRef=args,
                    attempt=name,
                    cycle=1,
                    decision=Decision.ALLOWED,
                    error=None,
                    fault=None,
                    resultRef=result,
                    shownRef=result,
                    step=step,
                    toolRef=text(b"refund"),
                )
            )
        if finish:
            put(Finish(answerRef=text(b'{"done":true}'), attempt=name, cycle=1, step=calls + 1))
            put(AgentEnd(attempt=name, cycle=1, detailRef=None, exitStatus=0, reason="finished", use=None))
            put(CycleEnd(attempt=name, cycle=1, stateSha256="0"))
            state = f"state of {name}".encode()
            digest = hashlib.sha256(state).hexdigest()
            (self.run / f"states/{digest}.sqlite").write_bytes(state)
            put(FinalState(attempt=name, fileSha256=digest, logicalSha256="0"))
            put(AttemptEnd(attempt=name, calls=calls, code=None, detailRef=None, elapsedMs=5, outcome=None))
        self.texts.commit()
        self.worker.commit()
        return rows

    def cell(self, case: str, run: int, **facts: Any) -> None:
        rows = self.attempt(case, run)
        (self.run / f"traces/{case}.{run}.jsonl").write_bytes(b"".join(row + b"\n" for row in rows))
        row = canonical_bytes({"case_id": case, "run": run, "outcome": "passed"})
        with (self.run / "cells.jsonl").open("ab") as stream:
            stream.write(row + b"\n")
        grade = {"attempt": f"{case}/{run}.0", "outcome": "passed", **facts}
        self.log.append(CellGrade(caseId=case, codes=(), gradeDigest=digest_bytes(row), run=run, **grade))
        self.log.commit()

    def close(self) -> None:
        self.texts.close()
        done = self.worker.close()
        self.log.append(WorkerLog(origin=done.origin, rootSha256=done.root.hex(), size=done.size))
        report = canonical_bytes({"verdict": "PASS"})
        (self.run / "report.json").write_bytes(report)
        self.log.append(RunVerdict(gateDigest="sha256:0", reportDigest=digest_bytes(report), verdict="PASS"))
        close_run(self.log, self.run)

    def abandon(self) -> None:
        self.texts.abandon()
        self.worker.abandon()
        self.log.abandon()


def closed_run(run: Path, *, run_id: str = "r1", cases: int = 2, runs: int = 2) -> Path:
    """A complete run with ``trust.json`` beside it."""
    builder = Builder(run, run_id=run_id, cases=cases, runs=runs)
    builder.register()
    for cell in builder.plan.cells():
        builder.cell(cell.case_id, cell.run)
    builder.close()
    save_trust(run.parent / TRUST_NAME, TRUST)
    return run
