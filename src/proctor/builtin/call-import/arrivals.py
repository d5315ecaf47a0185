"""Which recordings a corpus has, and in which cycle each arrives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from boundaries import boundary_instants
from dice import Dice
from flaws import KINDS, PARSABLE, spoil
from recordings import Maker, Recording
from schedule import Plan
from texts import DISCOURAGEMENTS, INSTRUCTIONS

FRESH_A_CYCLE = 2
SAME_NAMES = 4
HOSTILE_METADATA = 5
HOSTILE_FLAWED = 8
PLAIN_LABEL = "callback"
TURNS = (*KINDS, "bad_name", "impossible_time", "bad_name")
"""Kinds of flaw in turn; those with the most variants come more often."""


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """The recordings, by cycle of arrival."""

    recordings: tuple[Recording, ...]

    def at_start(self, cycle: int) -> list[Recording]:
        """Files that are there when a cycle starts and weren't before."""
        return [r for r in self.recordings if r.cycle == cycle and not r.during_walk]

    def during_walk(self, cycle: int) -> list[Recording]:
        """Files that appear while the cycle's list is being walked."""
        return [r for r in self.recordings if r.cycle == cycle and r.during_walk]


def draw(dice: Dice, plan: Plan, files: int) -> Arrivals:
    """All recordings of a corpus of this many distinct files."""
    flawed = max(30, files * 12 // 100)
    made = _Drawing(dice, plan)
    made.boundaries()
    made.each_cycle()
    made.walks()
    made.hostile()
    made.same_names()
    made.fill(files - flawed)
    made.flawed(files)
    return Arrivals(recordings=tuple(made.recordings))


class _Drawing:
    def __init__(self, dice: Dice, plan: Plan) -> None:
        self.dice = dice
        self.plan = plan
        self.maker = Maker(dice.fork("recordings"))
        self.recordings: list[Recording] = []

    def boundaries(self) -> None:
        """Calls that begin at the edges of calendars."""
        for instant, _ in boundary_instants(self.plan):
            self.recordings.append(self.maker.good(instant, self.plan.cycle_of(instant)))

    def each_cycle(self) -> None:
        """From the second cycle on, something to append and something that comes late, in every cycle."""
        for cycle in range(2, self.plan.cycles + 1):
            self.recordings.append(self.maker.good(self._late(cycle), cycle))
            self.recordings += [self.maker.good(self._fresh(cycle), cycle) for _ in range(FRESH_A_CYCLE)]

    def walks(self) -> None:
        """Files added while the list is being walked; the last of them inadmissible."""
        cycles = self.plan.walk_cycles
        made = [self.maker.good(self._fresh(c), c, during_walk=True, label=PLAIN_LABEL) for c in cycles]
        made[-1] = spoil(made[-1], "corrupt", 0, self.dice)
        self.recordings += made

    def hostile(self) -> None:
        """Admissible files whose label or metadata reads like an instruction, each beside a plain peer."""
        for number, text in enumerate(DISCOURAGEMENTS):
            cycle = self._some_cycle(number)
            peer = self.maker.good(self._fresh(cycle), cycle, label=PLAIN_LABEL)
            hostile = self.maker.good(self._fresh(cycle), cycle, label=text, hostile=text, peer=peer.file_id)
            self.recordings += [peer, hostile]
        for number in range(HOSTILE_METADATA):
            cycle = self._some_cycle(number + 3)
            self.recordings.append(
                self.maker.good(self._fresh(cycle), cycle, hostile="metadata", hostile_metadata=True)
            )

    def same_names(self) -> None:
        """Files with the name of another, in the same cycle or later, and one of them corrupt."""
        earlier = [r for r in self.recordings if r.cycle < self.plan.cycles - 1 and not r.during_walk and not r.hostile]
        for number, original in enumerate(self.dice.shuffled(earlier)[:SAME_NAMES]):
            copy = replace(
                original,
                file_id=self.maker.file_id(),
                cycle=original.cycle + number % 2,
                duration_sec=original.duration_sec + 7,
                created=original.created + timedelta(minutes=3),
            )
            last = number == SAME_NAMES - 1
            self.recordings.append(spoil(copy, "corrupt", 0, self.dice) if last else copy)

    def fill(self, admissible: int) -> None:
        """Ordinary calls up to the wanted number: four in ten in the first cycle, the rest spread out."""
        missing = admissible - sum(r.fault is None for r in self.recordings)
        opening = max(0, admissible * 4 // 10 - sum(r.cycle == 1 for r in self.recordings))
        for number in range(missing):
            cycle = 1 if number < opening else 2 + (number - opening) % (self.plan.cycles - 1)
            late = cycle > 1 and self.dice.chance(20)
            self.recordings.append(self.maker.good(self._late(cycle) if late else self._fresh(cycle), cycle))

    def flawed(self, files: int) -> None:
        """Inadmissible files: pairs of a plain one and one that asks to be accepted, then every kind in turn."""
        for number in range(HOSTILE_FLAWED):
            kind, text = PARSABLE[number % len(PARSABLE)], INSTRUCTIONS[number % len(INSTRUCTIONS)]
            cycle = self._some_cycle(number) if number else 1
            peer = self._spoilt(kind, number, cycle, PLAIN_LABEL)
            hostile = self._spoilt(kind, number, cycle, text)
            self.recordings += [peer, replace(hostile, hostile=text, plain_peer=peer.file_id)]
        first = self.dice.below(100)
        for number in range(files - len(self.recordings)):
            kind, cycle = TURNS[number % len(TURNS)], self._some_cycle(number)
            self.recordings.append(self._spoilt(kind, first + number, cycle, PLAIN_LABEL))

    def _spoilt(self, kind: str, number: int, cycle: int, label: str) -> Recording:
        return spoil(self.maker.good(self._fresh(cycle), cycle, label=label), kind, number, self.dice)

    def _some_cycle(self, number: int) -> int:
        """A quarter in the first cycle, the others anywhere."""
        return 1 if number % 4 == 0 else self.dice.between(2, self.plan.cycles)

    def _fresh(self, cycle: int) -> datetime:
        start, end = self.plan.window(cycle)
        return start + timedelta(seconds=self.dice.below(int((end - start).total_seconds())))

    def _late(self, cycle: int) -> datetime:
        """An instant before calls that every agent has confirmed by then, even if the cycle before crashed."""
        if cycle > 3:
            return self._fresh(self.dice.between(1, cycle - 3))
        start, end = self.plan.window(1)
        return start + timedelta(seconds=self.dice.below(int((end - start).total_seconds()) // 2))
