"""One attempt at a cell: reset, cycles, final state; all of it recorded, the attempt first of all.

The world's faults make the attempt ``infra_error``; the agent's make it ``agent_error`` or ``limit``; otherwise the
graders decide. Left out: grading, and trying again.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.agents.protocol import PROTOCOL, EndReason, Start, Task, start_line
from proctor.agents.resolve import AgentCommand
from proctor.agents.stdio import AgentLimits, AgentProcess
from proctor.clock import Clock
from proctor.codec.json_strict import parse_json
from proctor.errors import InfrastructureError, SuiteError
from proctor.gateway.gateway import Gateway
from proctor.gateway.recorder import Recorder
from proctor.grade.registry import is_known
from proctor.kinds import Outcome
from proctor.ledger.entries import (
    AgentEnd,
    AgentStart,
    AttemptEnd,
    AttemptStart,
    CycleEnd,
    CycleStart,
    FinalState,
    WorldReset,
)
from proctor.ledger.trace import Step, steps_of
from proctor.runner.claims import claims_in
from proctor.runner.cycle import CycleResult, run_cycle
from proctor.runner.folder import RunFolder
from proctor.sandbox.tiers import IsolatedAgents
from proctor.suite.load import Suite
from proctor.suite.model import Case
from proctor.suite.plan import Cell
from proctor.usage.claims import Claim
from proctor.worlds.port import WorldPort
from proctor.worlds.schedule import Schedule

__all__ = ["Attempt", "run_attempt"]

_encode = msgspec.json.Encoder().encode
_LIMITS = frozenset({EndReason.TIMEOUT, EndReason.OUTPUT_LIMIT})
_NO_PROGRAM = frozenset({errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC})
_FINE = frozenset({EndReason.FINISHED, EndReason.INJECTED_CRASH})


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What an attempt left. ``outcome`` is None where the graders decide; ``before`` and ``after`` name files under
    ``states/``, None if the world broke before they could be read."""

    name: str
    outcome: Outcome | None
    code: str | None
    detail: str
    steps: tuple[Step, ...]
    before: str | None
    after: str | None
    answers: tuple[Any, ...]
    ended: tuple[str, ...]
    calls: int
    elapsed_ms: int
    claims: tuple[Claim, ...] = ()


def run_attempt(
    suite: Suite,
    case: Case,
    cell: Cell,
    *,
    retry: int,
    world: WorldPort,
    recorder: Recorder,
    folder: RunFolder,
    command: AgentCommand,
    isolation: IsolatedAgents,
    clock: Clock,
    world_seed: str,
) -> Attempt:
    """Run one attempt and record it. Nothing an agent or a world does escapes as an exception."""
    name = f"{cell}.{retry}"
    recorder.take()
    recorder.record(AttemptStart(attempt=name, caseId=cell.case_id, retry=retry, run=cell.run, worldSeed=world_seed))
    running = _Running(
        suite,
        case,
        name,
        world=world,
        recorder=recorder,
        folder=folder,
        command=command,
        isolation=isolation,
        clock=clock,
    )
    outcome: Outcome | None
    try:
        running.reset(world_seed)
        running.all_cycles()
        outcome, code, detail = _judge(running.results)
    except (InfrastructureError, SuiteError) as error:  # a suite's mistake that shows only now is not the agent's
        outcome, code, detail = Outcome.INFRA_ERROR, _registered(error.code), _printable(error.message)
    elapsed_ms = running.elapsed_ms()
    calls = running.gateway.n_calls
    recorder.record(
        AttemptEnd(
            attempt=name,
            calls=calls,
            code=code,
            detailRef=recorder.text(detail.encode()) if detail else None,
            elapsedMs=elapsed_ms,
            outcome=outcome,
        )
    )
    entries, texts = recorder.take()
    recorder.commit()
    return Attempt(
        name=name,
        outcome=outcome,
        code=code,
        detail=detail,
        steps=tuple(step for _, step in steps_of(entries, texts.__getitem__)),
        before=running.before,
        after=running.after,
        answers=tuple(None if r.answer is None else parse_json(r.answer) for r in running.results),
        ended=tuple(str(r.reason) for r in running.results),
        calls=calls,
        elapsed_ms=elapsed_ms,
        claims=tuple(claims_in((entry for _, _, entry in entries), texts.__getitem__)),
    )


class _Running:
    """An attempt under way: what it works with, and what is known so far whatever happens next."""

    def __init__(
        self,
        suite: Suite,
        case: Case,
        name: str,
        *,
        world: WorldPort,
        recorder: Recorder,
        folder: RunFolder,
        command: AgentCommand,
        isolation: IsolatedAgents,
        clock: Clock,
    ) -> None:
        self._suite, self._case, self._name = suite, case, name
        self._world, self._recorder, self._folder = world, recorder, folder
        self._command, self._isolation, self._clock = command, isolation, clock
        self._started = clock.monotonic()
        self.gateway = Gateway(
            world,
            recorder,
            attempt=name,
            contract=suite.spec.contract,
            schedule=Schedule(case.faults, case.events),
            user_turns=case.user,
            max_turns=suite.spec.user.max_turns if suite.spec.user else 0,
        )
        self.results: list[CycleResult] = []
        self.before: str | None = None
        self.after: str | None = None

    def elapsed_ms(self) -> int:
        """Wall time so far."""
        return int((self._clock.monotonic() - self._started) * 1000)

    def reset(self, seed: str) -> None:
        """Start the world over and check that it stands where its snapshot does."""
        proof = self._world.reset(self._case.setup, seed)
        self._recorder.record(
            WorldReset(attempt=self._name, bytesSha256=proof.bytes_sha256, snapshotSha256=proof.snapshot_sha256)
        )
        if proof.bytes_sha256 != proof.snapshot_sha256:
            raise InfrastructureError(
                "the world did not start from its snapshot",
                expected=proof.snapshot_sha256,
                found=proof.bytes_sha256,
                code="reset_mismatch",
            )
        if not self._folder.has_state(proof.snapshot_sha256):
            self._folder.write_state(self._world.dump())
        self.before = proof.snapshot_sha256

    def all_cycles(self) -> None:
        """Every cycle in turn, until one runs into a limit; then the final state, on the disk before it is recorded."""
        for cycle in range(1, self._case.cycles + 1):
            self._recorder.record(CycleStart(attempt=self._name, cycle=cycle))
            self.gateway.begin_cycle(cycle)
            result = self._one_cycle(cycle)
            self.results.append(result)
            self._recorder.record(self._agent_end(cycle, result))
            digest = self._world.logical_digest()
            self._recorder.record(CycleEnd(attempt=self._name, cycle=cycle, stateSha256=digest))
            if result.reason in _LIMITS:
                break
        self.after = self._folder.write_state(self._world.dump())
        digest = self._world.logical_digest()
        self._recorder.record(FinalState(attempt=self._name, fileSha256=self.after, logicalSha256=digest))

    def _one_cycle(self, cycle: int) -> CycleResult:
        seconds = self._seconds_left()
        if seconds <= 0:
            return CycleResult(reason=EndReason.TIMEOUT, detail="the cell's time was up before the cycle began")
        start = self._start_message(cycle)
        reference = self._recorder.text(start_line(start))
        self._recorder.record(AgentStart(attempt=self._name, cycle=cycle, messageRef=reference))
        try:
            agent = AgentProcess(
                self._command, isolation=self._isolation, limits=AgentLimits(seconds=seconds), clock=self._clock
            )
        except OSError as error:
            own = error.filename == self._command.argv[0]  # what Proctor itself starts around it is not the agent's
            if own and error.errno in _NO_PROGRAM:
                return CycleResult(reason=EndReason.NOT_STARTED, detail=f"its program can't start: {error.strerror}")
            raise InfrastructureError(f"the agent's process can't be started: {error}", code="agent_start") from error
        return run_cycle(
            agent,
            self.gateway,
            start,
            ends_with=self._suite.spec.cycle.ends_with,
            answer_problem=_answer_check(self._suite),
        )

    def _seconds_left(self) -> float:
        spec = self._suite.spec
        if spec.budget.seconds is None:
            return spec.cycle.seconds
        return min(spec.cycle.seconds, spec.budget.seconds - (self._clock.monotonic() - self._started))

    def _start_message(self, cycle: int) -> Start:
        suite, case = self._suite, self._case
        return Start(
            protocol=PROTOCOL,
            task=Task(case=case.id, text=case.task or suite.spec.task, policy=suite.policy_text, input=case.input),
            cycle=cycle,
            cycles=case.cycles,
            tools=tuple(msgspec.to_builtins(tool) for tool in self._world.tools),
            answer=suite.answer.schema() if suite.answer else None,
        )

    def _agent_end(self, cycle: int, result: CycleResult) -> AgentEnd:
        said = {"detail": result.detail, "stderr": result.stderr}
        return AgentEnd(
            attempt=self._name,
            cycle=cycle,
            detailRef=self._recorder.text(_encode(said)) if any(said.values()) else None,
            exitStatus=result.exit_status,
            reason=str(result.reason),
            use=result.use,
        )


def _answer_check(suite: Suite) -> Callable[[bytes], str | None]:
    answer = suite.answer
    if answer is None:
        return lambda _: None
    return lambda text: answer.problem(parse_json(text))


def _registered(code: str | None) -> str:
    """A reason code of the registry; what else may be said stands in the detail."""
    return code if code is not None and is_known(code) else str(Outcome.INFRA_ERROR)


def _printable(text: str) -> str:
    """Text that UTF-8 can say, so that it reads back from the record as it was."""
    return text.encode("utf-8", "replace").decode()


def _judge(results: list[CycleResult]) -> tuple[Outcome | None, str | None, str]:
    """The first thing that went wrong decides; None where nothing did and the graders may speak."""
    for cycle, result in enumerate(results, 1):
        if result.reason in _LIMITS:
            return Outcome.LIMIT, str(result.reason), f"cycle {cycle}: {result.detail}"
    for cycle, result in enumerate(results, 1):
        if result.reason not in _FINE:
            return Outcome.AGENT_ERROR, str(result.reason), f"cycle {cycle}: {result.detail}"
    return None, None, ""
