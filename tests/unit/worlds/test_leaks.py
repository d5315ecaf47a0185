"""A reset that leaves something behind is noticed, whatever the tables' hashes say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proctor import world
from proctor.worlds.api import World
from proctor.worlds.leaks import find_leaks
from proctor.worlds.session import Session

SETUP = {"orders": [{"id": "A1", "cents": 100}, {"id": "A2", "cents": 200}]}


def desk() -> World:
    made = world(
        "CREATE TABLE orders(id TEXT PRIMARY KEY, cents INT); CREATE TABLE log(line TEXT);",
        clock="2026-11-30T09:00:00Z",
    )

    @made.tool(reads="orders")
    def get_order(db: Any, order_id: str) -> dict:  # type: ignore[type-arg]
        "Look up one order."
        found: dict[str, Any] = db.one("SELECT * FROM orders WHERE id = ?", order_id)
        return found

    @made.tool(writes="orders")
    def raise_price(db: Any, order_id: str) -> int:
        "Raise a price."
        changed: int = db.run("UPDATE orders SET cents = cents + 1 WHERE id = ?", order_id)
        return changed

    return made


def leaks(made: World) -> list[str]:
    return [leak.tool for leak in find_leaks(Session(made), SETUP, "1")]


def test_tools_that_keep_everything_in_their_tables_do_not_leak() -> None:
    assert leaks(desk()) == []


def test_state_in_memory_is_a_leak() -> None:
    made, seen = desk(), []

    @made.tool(reads="orders")
    def count(db: Any, order_id: str) -> int:
        "Count the calls."
        seen.append(order_id)
        return len(seen)

    assert leaks(made) == ["count"]


def test_state_that_another_tool_shows_is_a_leak() -> None:
    made: World = desk()
    marks: set[str] = set()

    @made.tool(reads="orders")
    def is_marked(db: Any, order_id: str) -> bool:
        "Whether it is marked."
        return order_id in marks

    @made.tool(writes="orders")
    def mark(db: Any, order_id: str) -> None:
        "Mark it."
        marks.add(order_id)

    assert leaks(made) == ["is_marked"]


def test_state_in_a_file_is_a_leak(tmp_path: Path) -> None:
    made, file = desk(), tmp_path / "left"

    @made.tool(reads="orders")
    def remember(db: Any) -> bool:
        "Whether it was here before."
        there = file.exists()
        file.write_text("x")
        return there

    assert leaks(made) == ["remember"]


def test_writing_outside_the_declared_tables_is_found() -> None:
    made = desk()

    @made.tool(reads="orders")
    def note(db: Any, order_id: str) -> None:
        "Write where it may not."
        db.run("INSERT INTO log VALUES (?)", order_id)

    (leak,) = find_leaks(Session(made), SETUP, "1")
    assert (leak.tool, leak.second) == ("note", "")
    assert leak.first.startswith("undeclared_access: ")
