"""The faults and events of one case, looked up by where they strike.

Both are keyed by cycle, tool and the n-th permitted call of that tool within the cycle, so that a schedule means the
same for every agent however it orders its other calls. A fault that an agent's calls never reach does not fire.
"""

from __future__ import annotations

from collections.abc import Sequence

from proctor.suite.model import Event, Fault

__all__ = ["Schedule"]


class Schedule:
    """What the harness does to a world and its callers, fixed by the case beforehand."""

    def __init__(self, faults: Sequence[Fault], events: Sequence[Event]) -> None:
        self._faults = {(f.cycle, f.tool, f.nth): f for f in faults}
        self._at_start: dict[int, list[Event]] = {}
        self._after: dict[tuple[int, str, int], list[Event]] = {}
        for event in events:
            if event.after is None:
                self._at_start.setdefault(event.cycle, []).append(event)
            else:
                self._after.setdefault((event.cycle, event.after.tool, event.after.nth), []).append(event)

    def fault(self, cycle: int, tool: str, nth: int) -> Fault | None:
        """The fault that strikes this call, if any."""
        return self._faults.get((cycle, tool, nth))

    def at_start(self, cycle: int) -> list[Event]:
        """Events before the cycle's agent starts."""
        return self._at_start.get(cycle, [])

    def after(self, cycle: int, tool: str, nth: int) -> list[Event]:
        """Events right after this call."""
        return self._after.get((cycle, tool, nth), [])
