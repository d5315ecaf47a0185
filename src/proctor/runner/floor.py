"""The do-nothing floor: what an agent that does nothing would score, printed beside every result.

Nothing is run for it but the world's own scheduled events. Where a cycle must be ended by a tool, nothing ends it and
the floor is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from proctor.errors import InfrastructureError
from proctor.gateway.gateway import Gateway
from proctor.gateway.recorder import Recorder
from proctor.grade.host import GraderProcess
from proctor.ledger.entries import Entry
from proctor.runner.grading import Recorded, grade_cell
from proctor.score.cells import CellRecord, CellUsage
from proctor.score.summary import Rate
from proctor.suite.load import Suite
from proctor.suite.model import Case
from proctor.suite.plan import CaseRef, Cell, Plan
from proctor.worlds.port import WorldPort
from proctor.worlds.schedule import Schedule

__all__ = ["do_nothing_floor", "nothing_done"]


class _Forgetful:
    """A log and a text store that keep nothing: the floor is no part of the run's record."""

    last_ns = 0

    def append(self, entry: Entry) -> int:
        """Keep nothing."""
        return 0

    def put(self, data: bytes) -> str:
        """Keep nothing."""
        return ""

    def commit(self) -> None:
        """There is nothing to commit."""


def do_nothing_floor(
    suite: Suite, plan: Plan, cases: Sequence[Case], world: WorldPort, graders: GraderProcess
) -> Rate | None:
    """Cases that pass although nothing was done, over the plan's cases; None (unknown) where the world breaks.

    Every case's world is set up here, so this is also where a case that contradicts its world is found:
    ``SuiteError``.
    """
    by_id = {case.id: case for case in cases}
    try:
        passed = sum(_passes(suite, plan, by_id[ref.id], ref, world=world, graders=graders) for ref in plan.cases)
    except InfrastructureError:
        return None
    return Rate.of(passed, len(plan.cases))


def _passes(suite: Suite, plan: Plan, case: Case, ref: CaseRef, *, world: WorldPort, graders: GraderProcess) -> bool:
    if suite.spec.cycle.ends_with is None:
        return nothing_done(suite, plan, case, ref, world=world, graders=graders).passed
    world.reset(case.setup, plan.world_seed(Cell(ref.id, 1)))
    return False


def nothing_done(
    suite: Suite, plan: Plan, case: Case, ref: CaseRef, *, world: WorldPort, graders: GraderProcess
) -> CellRecord:
    """The cell of an agent that does nothing and answers nothing, as the graders see it."""
    cell = Cell(ref.id, 1)
    world.reset(case.setup, plan.world_seed(cell))
    before = world.dump()
    nothing = _Forgetful()
    gateway = Gateway(
        world,
        Recorder(nothing, nothing),
        attempt="floor",
        contract=suite.spec.contract,
        schedule=Schedule(case.faults, case.events),
    )
    for cycle in range(1, case.cycles + 1):
        gateway.begin_cycle(cycle)
    answer = suite.answer.empty() if suite.answer else None
    recorded = Recorded(
        attempt="floor",
        attempts=1,
        outcome=None,
        code=None,
        detail="",
        steps=(),
        before=before,
        after=world.dump(),
        before_digest=None,
        after_digest=None,
        answers=[answer] * case.cycles,
        ended=["finished"] * case.cycles,
        usage=CellUsage(calls=0, seconds=0.0),
    )
    return grade_cell(graders, case, ref, cell, recorded)
