"""What happens to the source: files arrive, come again, are renamed or moved; the zone changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arrivals import Arrivals
from dice import Dice
from flaws import PARSABLE
from recordings import Recording
from schedule import Plan
from texts import FOLDERS, INSTRUCTIONS, LABELS, METADATA_TEXTS, SIDEWAYS

OPENING_REPEATS = 4
REPEATS = 36
RENAMES = 14
MOVES = 14
HOSTILE_RENAMES = 2


@dataclass(frozen=True, kw_only=True)
class Happening:
    """A change of the world: at the start of a cycle, or right after the nth call of ``list_files``."""

    cycle: int
    do: str
    args: dict[str, Any]
    after_list_call: int | None = None

    def as_event(self) -> dict[str, Any]:
        """The happening in the form of a case's events."""
        event: dict[str, Any] = {"cycle": self.cycle, "do": self.do, "args": self.args}
        if self.after_list_call is not None:
            event["after"] = {"tool": "list_files", "nth": self.after_list_call}
        return event


def arrange(
    dice: Dice, plan: Plan, arrivals: Arrivals
) -> tuple[tuple[Happening, ...], tuple[str, ...], dict[str, str]]:
    """Happenings in order, the list entries that the source opens with, and each name's neutral form."""
    opening = [r.file_id for r in dice.shuffled(arrivals.at_start(1))]
    opening += dice.shuffled(opening)[:OPENING_REPEATS]
    changes = _Changes(dice.fork("changes"), arrivals, plan)
    happenings: list[Happening] = []
    for cycle in range(1, plan.cycles + 1):
        if cycle > 1:
            happenings += _zone_change(plan, cycle)
            happenings += [_added(r) for r in dice.shuffled(arrivals.at_start(cycle))]
        happenings += changes.in_cycle(cycle)
        happenings += [_added(r) for r in arrivals.during_walk(cycle)]
    neutral = {r.name: r.neutral_name for r in arrivals.recordings}
    neutral.update(changes.neutral)
    neutral.update(dict.fromkeys((*METADATA_TEXTS, SIDEWAYS), "-"))
    return tuple(happenings), tuple(opening), neutral


def _zone_change(plan: Plan, cycle: int) -> list[Happening]:
    return [
        Happening(cycle=cycle, do="set_zone", args={"time_zone": z.name, "time_zone_version": z.version})
        for z in plan.zones
        if z.from_cycle == cycle
    ]


def _added(recording: Recording) -> Happening:
    return Happening(
        cycle=recording.cycle,
        do="add_file",
        args={"file": recording.source()},
        after_list_call=1 if recording.during_walk else None,
    )


class _Changes:
    """Repeats, renames and moves, drawn once and handed out cycle by cycle."""

    def __init__(self, dice: Dice, arrivals: Arrivals, plan: Plan) -> None:
        self.neutral: dict[str, str] = {}
        self._dice = dice
        self._plan = plan
        self._files = [r for r in arrivals.recordings if not r.during_walk]
        peers = {r.plain_peer for r in self._files}
        self._renamable = [
            r for r in self._files if r.fault in (None, *PARSABLE) and not r.hostile and r.file_id not in peers
        ]
        self._by_cycle: dict[int, list[Happening]] = {}
        for _ in range(REPEATS - OPENING_REPEATS):
            self._add(self._repeat())
        for number in range(RENAMES):
            self._add(self._rename(number))
        for _ in range(MOVES):
            self._add(self._move())
        cycle = plan.walk_cycles[-1]
        known = dice.pick([r for r in self._files if r.cycle < cycle])
        self._add(Happening(cycle=cycle, do="repeat_file", args={"file_id": known.file_id}, after_list_call=1))

    def in_cycle(self, cycle: int) -> list[Happening]:
        """This cycle's changes; those during the walk last."""
        mixed = self._dice.shuffled(self._by_cycle.get(cycle, []))
        return sorted(mixed, key=lambda h: h.after_list_call or 0)

    def _add(self, happening: Happening) -> None:
        self._by_cycle.setdefault(happening.cycle, []).append(happening)

    def _known(self, files: list[Recording]) -> tuple[Recording, int]:
        """A file and a cycle, from its own on, in which it is known."""
        cycle = self._dice.between(2, self._plan.cycles)
        return self._dice.pick([r for r in files if r.cycle <= cycle]), cycle

    def _repeat(self) -> Happening:
        recording, cycle = self._known(self._files)
        return Happening(cycle=cycle, do="repeat_file", args={"file_id": recording.file_id})

    def _rename(self, number: int) -> Happening:
        recording, cycle = self._known(self._renamable)
        others = [label for label in LABELS if label != recording.parts["label"]]
        label = INSTRUCTIONS[number] if number < HOSTILE_RENAMES else self._dice.pick(others)
        name, neutral = recording.relabelled(label)
        self.neutral[name] = neutral
        return Happening(cycle=cycle, do="rename_file", args={"file_id": recording.file_id, "name": name})

    def _move(self) -> Happening:
        recording, cycle = self._known(self._files)
        folder = self._dice.pick([f for f in FOLDERS if f != recording.folder_id])
        return Happening(cycle=cycle, do="move_file", args={"file_id": recording.file_id, "folder_id": folder})
