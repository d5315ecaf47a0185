"""What a log can say: one closed, frozen struct per kind of entry, and the envelope around them.

The envelope is ``{actor, data, kind, seq, tNs, v}``; ``seq`` is the leaf's index. Fields are declared in
alphabetical order and hold no floats, so that the fast encoder's bytes are the canonical ones (RFC 8785).
Times in ns and all scores are decimal strings. A field named ``…Ref`` is the salted commitment of a text kept
beside the log (``ledger.texts``): every text that came from a case, a tool, an agent or a model is there and
never in an entry, so that it can be withheld later without breaking a proof.

Left out: writing, reading and checking of logs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

import msgspec

__all__ = [
    "ACTORS",
    "ENTRY_KINDS",
    "ENTRY_VERSION",
    "AgentEnd",
    "AgentStart",
    "AgentUse",
    "AttemptEnd",
    "AttemptStart",
    "CallEntry",
    "CellGrade",
    "CycleEnd",
    "CycleStart",
    "Decision",
    "Entry",
    "FaultNote",
    "FileDigest",
    "FinalState",
    "Finish",
    "HoldoutSet",
    "HoldoutUsed",
    "KeyRotated",
    "PlanRegistered",
    "Recovered",
    "RunClosed",
    "RunEnd",
    "RunFiles",
    "RunPlan",
    "RunSealed",
    "RunVerdict",
    "Say",
    "SelfTest",
    "UsageClaim",
    "WorkerLog",
    "WorldEvent",
    "WorldReset",
]

ENTRY_VERSION = 1

Actor = Literal["agent", "grader", "runner", "user", "world"]
ACTORS: tuple[str, ...] = ("agent", "grader", "runner", "user", "world")


class Decision(StrEnum):
    """What the gateway decided about a call, before anything else happened to it."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    OVER_LIMIT = "over_limit"
    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base of all entry data; ``kind`` and ``actor`` go into the envelope."""

    kind: ClassVar[str]
    actor: ClassVar[Actor] = "runner"


class RunPlan(Entry, frozen=True, kw_only=True):
    """The plan, registered before the first cell starts: digest and size of ``plan.json``."""

    kind: ClassVar[str] = "run.plan"
    cells: int
    planDigest: str  # noqa: N815 - the published format
    runId: str  # noqa: N815


class SelfTest(Entry, frozen=True, kw_only=True):
    """Isolation as it was found on this machine; details are in ``isolation.json``."""

    kind: ClassVar[str] = "selftest"
    isolationDigest: str  # noqa: N815
    tier: str


class WorkerLog(Entry, frozen=True, kw_only=True):
    """A worker's log as the run's log knows it, entered when it opens (size 0) and when it closes."""

    kind: ClassVar[str] = "worker.log"
    origin: str
    rootSha256: str  # noqa: N815
    size: int


class AttemptStart(Entry, frozen=True, kw_only=True):
    """An attempt at a cell, registered before it starts."""

    kind: ClassVar[str] = "attempt.start"
    attempt: str
    caseId: str  # noqa: N815
    retry: int
    run: int
    worldSeed: str  # noqa: N815


class WorldReset(Entry, frozen=True, kw_only=True):
    """The state that the attempt started from: hash of the database's bytes, checked against the
    snapshot's.
    """

    kind: ClassVar[str] = "world.reset"
    actor: ClassVar[Actor] = "world"
    attempt: str
    bytesSha256: str  # noqa: N815
    snapshotSha256: str  # noqa: N815


class CycleStart(Entry, frozen=True, kw_only=True):
    """A cycle begins; cycles count from 1."""

    kind: ClassVar[str] = "cycle.start"
    attempt: str
    cycle: int


class AgentStart(Entry, frozen=True, kw_only=True):
    """What the agent was told: the exact ``start`` message."""

    kind: ClassVar[str] = "agent.start"
    attempt: str
    cycle: int
    messageRef: str  # noqa: N815


class WorldEvent(Entry, frozen=True, kw_only=True):
    """A change of the world that the harness made on schedule (nobody's call)."""

    kind: ClassVar[str] = "world.event"
    actor: ClassVar[Actor] = "world"
    argsRef: str  # noqa: N815
    attempt: str
    cycle: int
    event: str
    step: int


class FaultNote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The scheduled fault that struck a call: what it was and whether the call still took effect."""

    effect: bool
    fault: str
    phase: str


class CallEntry(Entry, frozen=True, kw_only=True):
    """One call through the gateway, recorded before the agent saw ``shownRef``.

    ``resultRef`` is what the world answered (null if it was never asked); ``error`` is the code shown to the
    agent, or null; ``shownRef`` is null where the agent was killed before it saw anything.
    """

    kind: ClassVar[str] = "tool.call"
    actor: ClassVar[Actor] = "agent"
    argsRef: str  # noqa: N815
    attempt: str
    cycle: int
    decision: Decision
    error: str | None
    fault: FaultNote | None
    resultRef: str | None  # noqa: N815
    shownRef: str | None  # noqa: N815
    step: int
    toolRef: str  # noqa: N815


class Say(Entry, frozen=True, kw_only=True):
    """One exchange with the user: what the agent said, what it was answered."""

    kind: ClassVar[str] = "user.say"
    actor: ClassVar[Actor] = "user"
    attempt: str
    cycle: int
    done: bool
    replyRef: str  # noqa: N815
    step: int
    textRef: str  # noqa: N815


class Finish(Entry, frozen=True, kw_only=True):
    """The agent's final answer: a claim, kept beside the record."""

    kind: ClassVar[str] = "agent.finish"
    actor: ClassVar[Actor] = "agent"
    answerRef: str  # noqa: N815
    attempt: str
    cycle: int
    step: int


class UsageClaim(Entry, frozen=True, kw_only=True):
    """A model request as the agent tells it: ``{request_id, provider, model, raw_usage}``. A claim, kept beside what
    the executor saw."""

    kind: ClassVar[str] = "usage.claim"
    actor: ClassVar[Actor] = "agent"
    attempt: str
    claimRef: str  # noqa: N815
    cycle: int


class AgentUse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What a cycle's agent used, with everything that came of it: processor time of all together, the largest memory
    of one process; null where nobody measured. ``survivors`` had left its session and were ended with it; ``alive``
    could not be ended.
    """

    alive: int
    cpuMs: int | None  # noqa: N815
    maxRssBytes: int | None  # noqa: N815
    survivors: int
    wallMs: int  # noqa: N815


class AgentEnd(Entry, frozen=True, kw_only=True):
    """How the agent's process ended in this cycle. ``reason`` is one of ``agents.protocol.EndReason``; ``use`` is null
    where no process was started.
    """

    kind: ClassVar[str] = "agent.end"
    attempt: str
    cycle: int
    detailRef: str | None  # noqa: N815
    exitStatus: int | None  # noqa: N815
    reason: str
    use: AgentUse | None


class CycleEnd(Entry, frozen=True, kw_only=True):
    """A cycle is over; ``stateSha256`` is the logical digest of the world at that moment."""

    kind: ClassVar[str] = "cycle.end"
    attempt: str
    cycle: int
    stateSha256: str  # noqa: N815


class FinalState(Entry, frozen=True, kw_only=True):
    """The world as the attempt left it; the file with this digest is under ``states/``."""

    kind: ClassVar[str] = "state.final"
    actor: ClassVar[Actor] = "world"
    attempt: str
    fileSha256: str  # noqa: N815
    logicalSha256: str  # noqa: N815


class AttemptEnd(Entry, frozen=True, kw_only=True):
    """An attempt is over. ``outcome`` is null where the graders decide; ``detailRef`` says what went wrong."""

    kind: ClassVar[str] = "attempt.end"
    attempt: str
    calls: int
    code: str | None
    detailRef: str | None  # noqa: N815
    elapsedMs: int  # noqa: N815
    outcome: str | None


class CellGrade(Entry, frozen=True, kw_only=True):
    """A cell's end: outcome, reason codes, and the digest of its whole grade (in ``cells.jsonl`` order)."""

    kind: ClassVar[str] = "cell.grade"
    actor: ClassVar[Actor] = "grader"
    attempt: str | None
    caseId: str  # noqa: N815
    codes: tuple[str, ...]
    gradeDigest: str  # noqa: N815
    outcome: str
    run: int


class RunVerdict(Entry, frozen=True, kw_only=True):
    """The gate's answer and the digest of the report it stands in."""

    kind: ClassVar[str] = "run.verdict"
    gateDigest: str  # noqa: N815
    reportDigest: str  # noqa: N815
    verdict: str


class FileDigest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One file of the run folder."""

    bytes: int
    path: str
    sha256: str


class RunFiles(Entry, frozen=True, kw_only=True):
    """A first part of the list in ``run.end``, where the list is too long for one entry."""

    kind: ClassVar[str] = "run.files"
    files: tuple[FileDigest, ...]


class RunEnd(Entry, frozen=True, kw_only=True):
    """The last entry: every file outside ``ledger/`` (with the parts in ``run.files`` right before it).

    Nothing follows; a closed run never changes.
    """

    kind: ClassVar[str] = "run.end"
    files: tuple[FileDigest, ...]


class Recovered(Entry, frozen=True, kw_only=True):
    """A crash left the log open. What stands before is intact; a torn tail of ``bytes`` bytes, if there was
    one, is kept under ``torn/`` with this digest.
    """

    kind: ClassVar[str] = "recovered"
    bytes: int
    sha256: str


class PlanRegistered(Entry, frozen=True, kw_only=True):
    """In the workspace's log: a run with this plan is about to start; ``origin`` names its log."""

    kind: ClassVar[str] = "plan.registered"
    origin: str
    planDigest: str  # noqa: N815
    runId: str  # noqa: N815


class RunClosed(Entry, frozen=True, kw_only=True):
    """In the workspace's log: a run's log was closed with this head, and this verdict."""

    kind: ClassVar[str] = "run.closed"
    rootSha256: str  # noqa: N815
    runId: str  # noqa: N815
    size: int
    verdict: str


class RunSealed(Entry, frozen=True, kw_only=True):
    """In the workspace's log: a closed run was sealed; the digest is that of ``seal.dsse.json``."""

    kind: ClassVar[str] = "run.sealed"
    rootSha256: str  # noqa: N815
    runId: str  # noqa: N815
    sealDigest: str  # noqa: N815


class KeyRotated(Entry, frozen=True, kw_only=True):
    """In the workspace's log: the installation signs with another key from here on."""

    kind: ClassVar[str] = "key.rotated"
    newVkey: str  # noqa: N815
    oldVkey: str  # noqa: N815


class HoldoutSet(Entry, frozen=True, kw_only=True):
    """In the workspace's log: this dataset is a holdout, and may be used ``budget`` times."""

    kind: ClassVar[str] = "holdout.set"
    budget: int
    datasetSha256: str  # noqa: N815


class HoldoutUsed(Entry, frozen=True, kw_only=True):
    """In the workspace's log: a candidate's results were scored against a holdout."""

    kind: ClassVar[str] = "holdout.used"
    candidate: str
    datasetSha256: str  # noqa: N815


ENTRY_KINDS: dict[str, type[Entry]] = {
    cls.kind: cls
    for cls in (
        RunPlan,
        SelfTest,
        WorkerLog,
        AttemptStart,
        WorldReset,
        CycleStart,
        AgentStart,
        WorldEvent,
        CallEntry,
        Say,
        Finish,
        UsageClaim,
        AgentEnd,
        CycleEnd,
        FinalState,
        AttemptEnd,
        CellGrade,
        RunVerdict,
        RunFiles,
        RunEnd,
        Recovered,
        PlanRegistered,
        RunClosed,
        RunSealed,
        KeyRotated,
        HoldoutSet,
        HoldoutUsed,
    )
}
