"""Reading a suite's sources: what isn't the suite's own, and the SQL that its tools write out."""

from __future__ import annotations

import pytest

from proctor.suite.source import machine_uses, sql_calls


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import time\nx = time.time()", "time.time"),
        ("import time as t\nx = t.monotonic()", "time.monotonic"),
        ("from datetime import datetime as dt\nx = dt.now()", "datetime.datetime.now"),
        ("import datetime\nx = datetime.date.today()", "datetime.date.today"),
        ("from random import choice\nx = choice([1])", "random.choice"),
        ("from uuid import uuid4\nx = uuid4()", "uuid.uuid4"),
        ("import os\nx = os.environ", "os.environ"),
        ("from urllib.request import urlopen\nurlopen('x')", "urllib.request.urlopen"),
        ("x = open('x')", "open"),
        ("x = eval('1')", "eval"),
        ("def f():\n    global total", "global total"),
    ],
)
def test_uses_of_the_machine_are_found_by_whatever_name(source: str, name: str) -> None:
    (note,) = machine_uses(source)
    assert (note.line, note.name) == (2 if "\n" in source else 1, name)
    assert note.fix


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import datetime\nx = datetime.fromisoformat('2026-01-01')",
        "import random\nx = random.Random(7)",
        "from urllib.parse import quote\nx = quote('a b')",
        "def f(db, id, time):\n    return db.now(), id, time.day",
        "import re, json, math",
    ],
)
def test_what_is_the_same_in_every_run_is_fine(source: str) -> None:
    assert machine_uses(source) == []


def test_statements_of_tools_are_found_with_their_parameters() -> None:
    source = """
@desk.tool(reads="orders")
def get(db, id: str) -> dict:
    rows = db.all("SELECT 1", *[])
    db.insert("notes", text=id, at=1)
    return db.one("SELECT * FROM orders WHERE id = ?", id)

def helper(db):
    return db.one("SELECT 2")
"""
    calls = sql_calls(source)
    assert [(c.line, c.operation, c.n_parameters) for c in calls] == [(4, "get", None), (5, "get", 2), (6, "get", 1)]
    assert calls[1].sql == 'INSERT INTO "notes" ("text", "at") VALUES (?, ?)'


def test_broken_source_is_said_to_be() -> None:
    with pytest.raises(SyntaxError):
        machine_uses("def f(:")
