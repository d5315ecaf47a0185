"""When things happen in a corpus: zones, windows of time, crashes, temporary errors, files added during a walk.

Rules that keep the expected rows the same for every careful agent: a crash never comes in the cycle before a change
of zone, in the last cycle or in two cycles running; no file is added during a walk in the cycle before a change of
zone or in the last. Every fault has something to strike: each cycle from the second brings new calls to append and
late ones to insert.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dice import Dice

MIN_CYCLES = 20
LIST_TOOLS = ("list_files", "list_confirmed")
WRITE_TOOLS = ("append_rows", "insert_rows")
TEMPORARY_TOOLS = (*LIST_TOOLS, "get_config", "get_permissions", *WRITE_TOOLS, "report")
CRASH_TOOLS = (*LIST_TOOLS, *WRITE_TOOLS)
PHASES = ("before", "after")
SHIFTING_ZONES = ("Europe/Berlin", "America/New_York", "Europe/Lisbon", "America/St_Johns", "Pacific/Auckland")
STEADY_ZONES = ("UTC", "Asia/Kathmandu", "Asia/Tokyo")
BACKLOG_START = datetime(2024, 1, 1, tzinfo=UTC)
FIRST_WINDOW = datetime(2024, 3, 1, tzinfo=UTC)
LAST_MOMENT = datetime(2026, 1, 10, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Zone:
    """A zone in force from the start of a cycle."""

    from_cycle: int
    name: str
    version: str


@dataclass(frozen=True, kw_only=True)
class Strike:
    """A fault: the nth call of a tool in a cycle, before or after it takes effect."""

    cycle: int
    tool: str
    nth: int
    phase: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The whole schedule of one corpus."""

    cycles: int
    zones: tuple[Zone, ...]
    strikes: tuple[Strike, ...]
    walk_cycles: tuple[int, ...]

    def zone(self, cycle: int) -> Zone:
        """The zone in force in a cycle."""
        return [zone for zone in self.zones if zone.from_cycle <= cycle][-1]

    def window(self, cycle: int) -> tuple[datetime, datetime]:
        """The stretch of time in which the new calls of a cycle began (the first cycle: the backlog)."""
        if cycle == 1:
            return BACKLOG_START, FIRST_WINDOW
        length = (LAST_MOMENT - FIRST_WINDOW) // (self.cycles - 1)
        length -= timedelta(seconds=length.seconds % 3600, microseconds=length.microseconds)
        start = FIRST_WINDOW + (cycle - 2) * length
        return start, start + length

    def cycle_of(self, instant: datetime) -> int:
        """The cycle in whose window an instant lies. Raises ``ValueError`` outside all windows."""
        for cycle in range(1, self.cycles + 1):
            start, end = self.window(cycle)
            if start <= instant < end:
                return cycle
        raise ValueError(f"{instant} is outside the corpus's time")


def make_plan(dice: Dice, cycles: int) -> Plan:
    """A schedule of at least 20 cycles. Raises ``ValueError`` for fewer."""
    if cycles < MIN_CYCLES:
        raise ValueError(f"a corpus has at least {MIN_CYCLES} cycles; asked for {cycles}")
    zones = _zones(dice.fork("zones"), cycles)
    changes = [zone.from_cycle for zone in zones[1:]]
    crash_cycles = _crash_cycles(dice.fork("crashes"), cycles, changes)
    crashes = _crashes(dice.fork("crash-tools"), crash_cycles)
    calm = [c for c in range(2, cycles + 1) if c not in crash_cycles]
    quiet = [c for c in calm if c != cycles and c + 1 not in changes]
    walks = sorted(dice.fork("walks").shuffled([1, *quiet])[:6])
    temporary = _temporary(dice.fork("temporary"), calm)
    strikes = sorted((*crashes, *temporary), key=lambda s: (s.cycle, s.tool, s.nth))
    return Plan(cycles=cycles, zones=zones, strikes=tuple(strikes), walk_cycles=tuple(walks))


def _zones(dice: Dice, cycles: int) -> tuple[Zone, ...]:
    first, second = dice.shuffled(SHIFTING_ZONES)[:2]
    starts = (1, cycles * 9 // 20 + dice.below(2), cycles * 15 // 20 + dice.below(2))
    names = (first, second, dice.pick(STEADY_ZONES))
    return tuple(
        Zone(from_cycle=start, name=name, version=f"zones-{number}")
        for number, (start, name) in enumerate(zip(starts, names, strict=True), 1)
    )


def _crash_cycles(dice: Dice, cycles: int, changes: list[int]) -> list[int]:
    """One cycle for each way to crash, no two running, none before a change of zone, not the first or last."""
    allowed = [c for c in range(2, cycles) if c + 1 not in changes]
    most: list[int] = []
    for cycle in allowed:
        if not most or cycle - most[-1] > 1:
            most.append(cycle)
    needed = len(CRASH_TOOLS) * len(PHASES)
    if len(most) < needed:
        raise ValueError(f"{cycles} cycles leave room for {len(most)} crashes; {needed} are needed")
    return sorted(dice.shuffled(most)[:needed])


def _crashes(dice: Dice, cycles: list[int]) -> list[Strike]:
    ways = [(tool, phase) for tool in CRASH_TOOLS for phase in PHASES]
    return [
        Strike(
            cycle=cycle, tool=tool, nth=2 if (tool, phase) == ("list_files", "after") else 1, phase=phase, kind="crash"
        )
        for cycle, (tool, phase) in zip(cycles, dice.shuffled(ways), strict=True)
    ]


def _temporary(dice: Dice, calm: list[int]) -> list[Strike]:
    """Each tool before and after its effect, then two that strike the same call again."""
    order = dice.shuffled(calm)
    strikes = [
        Strike(cycle=order[number % len(order)], tool=tool, nth=1, phase=phase, kind="temporary")
        for number, (tool, phase) in enumerate((tool, phase) for phase in PHASES for tool in TEMPORARY_TOOLS)
    ]
    again = [
        Strike(cycle=first.cycle, tool=first.tool, nth=2, phase=phase, kind="temporary")
        for tool, phase in (("append_rows", "after"), ("list_files", "after"))
        for first in strikes
        if first.tool == tool and first.phase == "before"
    ]
    return [*strikes, *again]
