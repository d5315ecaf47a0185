"""Instants at the edges of calendars: clock changes, midnights, year ends, the leap day, in the zone then in force."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from schedule import BACKLOG_START, LAST_MOMENT, Plan

SECOND = timedelta(seconds=1)


def boundary_instants(plan: Plan) -> list[tuple[datetime, str]]:
    """Instants with what they are, in order; each lies in a window of a cycle in which its zone holds."""
    found: list[tuple[datetime, str]] = []
    for zone in plan.zones:
        for instant, what in [*_clock_changes(zone.name), *_calendar(zone.name)]:
            if _holds(plan, zone.name, instant):
                found.append((instant, what))
    return sorted(set(found))


def clock_changes(zone: str, start: datetime, end: datetime) -> list[tuple[datetime, timedelta]]:
    """Each first instant of a new offset between two instants, and by how much the clock moved."""
    place, step = ZoneInfo(zone), timedelta(hours=12)
    changes, here = [], start
    while here < end:
        before, after = _offset(place, here), _offset(place, here + step)
        if before != after:
            low, high = here, here + step
            while high - low > SECOND:
                middle = low + timedelta(seconds=(high - low).total_seconds() // 2)
                low, high = (middle, high) if _offset(place, middle) == before else (low, middle)
            changes.append((high, after - before))
        here += step
    return changes


def _offset(place: ZoneInfo, instant: datetime) -> timedelta:
    return instant.astimezone(place).utcoffset() or timedelta()


def _clock_changes(zone: str) -> list[tuple[datetime, str]]:
    instants = []
    for change, moved in clock_changes(zone, BACKLOG_START, LAST_MOMENT):
        forward = moved > timedelta()
        name = "clock_forward" if forward else "clock_back"
        instants += [(change - SECOND, f"{name}_before"), (change, f"{name}_at"), (change + SECOND, f"{name}_after")]
        if not forward:  # the same wall time twice
            instants += [(change + moved / 2, "wall_time_first"), (change - moved / 2, "wall_time_second")]
    return instants


def _calendar(zone: str) -> list[tuple[datetime, str]]:
    place = ZoneInfo(zone)

    def at(*when: int) -> datetime:
        return datetime(*when, tzinfo=place).astimezone(UTC)  # type: ignore[misc,arg-type]

    instants = [
        (at(2024, 2, 29, 0, 0, 0), "leap_day_start"),
        (at(2024, 2, 29, 23, 59, 59), "leap_day_end"),
        (datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC), "utc_year_end"),
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), "utc_year_end"),
    ]
    for year in (2024, 2025):
        instants += [(at(year, 12, 31, 23, 59, 59), "year_end"), (at(year + 1, 1, 1, 0, 0, 0), "new_year")]
        for month in (5, 9):
            instants += [
                (at(year, month, 14, 0, 0, 0), "midnight"),
                (at(year, month, 13, 23, 59, 59), "before_midnight"),
            ]
    return instants


def _holds(plan: Plan, zone: str, instant: datetime) -> bool:
    try:
        return plan.zone(plan.cycle_of(instant)).name == zone
    except ValueError:
        return False
