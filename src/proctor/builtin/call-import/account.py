"""What the log says happened, cycle by cycle: the source and the register replayed from the recorded steps.

Nothing here judges. A write counts if it took effect, whether or not the agent saw the answer; a page counts as shown
if the agent saw it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor import Evidence

LISTS = ("list_files", "list_confirmed")
WRITES = ("append_rows", "insert_rows")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the register with the cycle and the step that wrote it."""

    file_id: str
    values: Mapping[str, Any]
    cycle: int
    step: int


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that fired, with the ids that it touched."""

    cycle: int
    step: int
    tool: str
    phase: str
    kind: str
    touched: frozenset[str]


@dataclass(kw_only=True)
class Cycle:
    """One cycle's record."""

    number: int
    zone_version: str = ""
    crashed: bool = False
    calls: list[Any] = field(default_factory=list)
    listed_at_start: frozenset[str] = frozenset()
    arrived: frozenset[str] = frozenset()
    confirmed_at_start: frozenset[str] = frozenset()
    shown: dict[str, int] = field(default_factory=dict)
    pages: dict[str | None, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)
    written: dict[str, list[int]] = field(default_factory=dict)
    tried: dict[str, list[int]] = field(default_factory=dict)
    reported: dict[str, list[int]] = field(default_factory=dict)
    counts: Mapping[str, int] | None = None
    finish_step: int = 0
    register: tuple[Row, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the agent ended it with its counts."""
        return self.counts is not None


@dataclass(kw_only=True)
class Account:
    """The whole attempt: cycles 1 to n, the faults that fired, and what the source and the register came to."""

    cycles: list[Cycle]
    faults: list[Fault] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    arrivals: list[str] = field(default_factory=list)
    register: list[Row] = field(default_factory=list)

    def rows_of(self, number: int) -> dict[str, list[Row]]:
        """The rows of each id at the end of a cycle, in the register's order."""
        rows: dict[str, list[Row]] = {}
        for row in self.cycles[number - 1].register:
            rows.setdefault(row.file_id, []).append(row)
        return rows


def succeeded(step: Any) -> bool:
    """Whether the agent saw the call succeed."""
    return step.decision == "allowed" and step.error is None and step.fault is None


def argument(step: Any, name: str) -> Any:
    """An argument of a call; None where there is none, or where the call brought no object at all."""
    return step.args.get(name) if isinstance(step.args, dict) else None


def token_of(step: Any) -> str | None:
    """The page that a listing call asked for."""
    token = argument(step, "page_token")
    return token if isinstance(token, str) else None


def file_of(step: Any) -> str:
    """The file that a report is about, or nothing."""
    file_id = argument(step, "file_id")
    return file_id if isinstance(file_id, str) else ""


def rows_of(step: Any) -> list[dict[str, Any]]:
    """The rows that a write brought, whatever their shape."""
    rows = argument(step, "rows")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def ids_of(step: Any) -> list[str]:
    """The ids that a write brought."""
    return [row["file_id"] for row in rows_of(step) if isinstance(row.get("file_id"), str)]


def keep_account(evidence: Evidence) -> Account:
    """Replay the recorded steps over the state before."""
    total = evidence.case["cycles"]
    account = Account(cycles=[Cycle(number=number) for number in range(1, total + 1)])
    account.files = {row["file_id"]: dict(row) for row in evidence.before.rows("files")}
    arrivals = sorted(evidence.before.rows("arrivals"), key=lambda row: row["number"])
    account.arrivals = [row["file_id"] for row in arrivals]
    replay = _Replay(account, evidence.before.rows("config")[0]["time_zone_version"])
    by_cycle: dict[int, list[Any]] = {}
    for step in evidence.steps:
        by_cycle.setdefault(step.cycle, []).append(step)
    for cycle in account.cycles:
        ended = evidence.ended[cycle.number - 1] if cycle.number <= len(evidence.ended) else ""
        replay.cycle(cycle, by_cycle.get(cycle.number, []), crashed=ended == "injected_crash")
    return account


class _Replay:
    def __init__(self, account: Account, zone_version: str) -> None:
        self.account = account
        self.zone_version = zone_version
        self.confirmed: set[str] = set()

    def cycle(self, cycle: Cycle, steps: list[Any], *, crashed: bool) -> None:
        """Replay one cycle; what the world did before the agent's first step belongs to its start."""
        cycle.crashed = crashed
        opening = next((n for n, step in enumerate(steps) if step.actor != "world"), len(steps))
        for step in steps[:opening]:
            self._event(step)
        cycle.zone_version = self.zone_version
        cycle.listed_at_start = frozenset(self.account.arrivals)
        cycle.confirmed_at_start = frozenset(self.confirmed)
        struck = []
        for step in steps[opening:]:
            if step.actor == "world":
                self._event(step)
            elif step.actor == "agent" and step.action != "finish":
                cycle.calls.append(step)
                if step.fault is not None:
                    struck.append((step, len(self.account.arrivals), tuple(self.account.register)))
                self._call(cycle, step)
        cycle.arrived = frozenset(self.account.arrivals)
        cycle.register = tuple(self.account.register)
        for step, listed, register in struck:
            cycle.crashed = cycle.crashed or step.fault == "crash"
            touched = self._touched(cycle, step, listed, register)
            self.account.faults.append(
                Fault(
                    cycle=cycle.number,
                    step=step.step,
                    tool=step.action,
                    phase=step.fault_phase or "",
                    kind=step.fault,
                    touched=frozenset(touched),
                )
            )

    def _event(self, step: Any) -> None:
        account, args = self.account, step.args
        if step.action == "add_file":
            file = args["file"]
            account.files[file["file_id"]] = _columns(file)
            account.arrivals.append(file["file_id"])
        elif step.action == "repeat_file":
            account.arrivals.append(args["file_id"])
        elif step.action == "rename_file":
            account.files[args["file_id"]]["name"] = args["name"]
        elif step.action == "move_file":
            account.files[args["file_id"]]["folder_id"] = args["folder_id"]
        elif step.action == "set_zone":
            self.zone_version = args["time_zone_version"]

    def _call(self, cycle: Cycle, step: Any) -> None:
        if step.action == "list_files" and succeeded(step):
            page = tuple(file["file_id"] for file in step.result["files"])
            cycle.pages[token_of(step)] = (step.result["next_page_token"], page)
            for file_id in page:
                cycle.shown.setdefault(file_id, step.step)
        elif step.action in WRITES and step.decision == "allowed":
            for file_id in ids_of(step):
                cycle.tried.setdefault(file_id, []).append(step.step)
            if step.took_effect:
                self._write(cycle, step)
        elif step.action == "report" and step.took_effect and argument(step, "kind") == "failed":
            cycle.reported.setdefault(file_of(step), []).append(step.step)
        elif step.action == "finish_cycle" and step.took_effect:
            cycle.counts = step.args["counts"]
            cycle.finish_step = step.step

    def _write(self, cycle: Cycle, step: Any) -> None:
        register = self.account.register
        rows = [
            Row(
                file_id=row["file_id"],
                values={**row, "status": "imported"},
                cycle=cycle.number,
                step=step.step,
            )
            for row in rows_of(step)
        ]
        at = len(register)
        if step.action == "insert_rows":
            before = step.args["before_file_id"]
            at = next((n for n, row in enumerate(register) if row.file_id == before), at)
        register[at:at] = rows
        for row in rows:
            cycle.written.setdefault(row.file_id, []).append(step.step)
            self.confirmed.add(row.file_id)

    def _touched(self, cycle: Cycle, step: Any, listed: int, register: tuple[Row, ...]) -> set[str]:
        """The ids that a struck call was about: its rows, its page, its file, or the cycle's whole work."""
        if step.action in WRITES:
            return set(ids_of(step))
        if step.action == "report":
            return {file_of(step)} - {""}
        if step.action == "list_files":
            if token_of(step) in cycle.pages:
                return set(cycle.pages[token_of(step)][1])
            return set(self.account.arrivals[_number(token_of(step)) : listed])
        if step.action == "list_confirmed":
            return {row.file_id for row in register[_number(token_of(step)) :]}
        return set(cycle.tried)


def _number(token: str | None) -> int:
    return int(token) if isinstance(token, str) and token.isascii() and token.isdigit() else 0


def _columns(file: Mapping[str, Any]) -> dict[str, Any]:
    """A file of an event in the columns of the world's table."""
    metadata = file.get("metadata", {})
    return {
        **{name: value for name, value in file.items() if name != "metadata"},
        "corrupt": int(file["corrupt"]),
        "metadata_direction": metadata.get("direction"),
        "metadata_phone": metadata.get("phone"),
        "metadata_manager_code": metadata.get("manager_code"),
    }
