"""Seeded authoring mistakes: each is found, with its file, its line, and what to do."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from proctor.checking.check import check_suite
from proctor.checking.model import Mistake
from proctor.cli.suite_check import check
from refund_kit import copy_suite, edit

EVENT = '"events":[{"cycle":1,"do":"%s","args":%s}],'
LOSE = """
@desk.event(writes="orders")
def lose(db, id: str) -> None:
    "An order is lost."
    db.run("UPDATE orders SET status = 'lost' WHERE id = ?", id)
"""

# ruff: noqa: E501 - a row a line
# fmt: off
# name, file, old, new, where it is found, words of the message
SEEDED = [
    ("misspelt key", "suite.toml", "graders =", "grader =", "suite.toml:12", "unknown key 'grader'; did you mean 'graders'?"),
    ("key left out", "suite.toml", 'version = "3"\n', "", "suite.toml:1", "the key 'version' is missing; add 'version'"),
    ("wrong type", "suite.toml", "runs = 3", 'runs = "3"', "suite.toml:7", "wrong type; expected int; found 3"),
    ("out of range", "suite.toml", "runs = 3", "runs = 0", "suite.toml:7", "wrong value; expected int >= 1; found 0"),
    ("broken TOML", "suite.toml", "runs = 3", "runs = ", "suite.toml:7", "invalid TOML; expected TOML; mend the TOML"),
    ("misspelt key inside", "suite.toml", "max_calls", "max_call", "suite.toml:10", "did you mean 'max_calls'?"),
    ("no such type", "suite.toml", '"bool"', '"boole"', "suite.toml:9", "no answer type; expected bool; found boole"),
    ("forbids nothing", "suite.toml", '"delete_order"', '"delete_ordr"', "suite.toml:10", "no tool 'delete_ordr'; did you mean 'delete_order'?"),
    ("limits nothing", "suite.toml", "{ issue_refund", "{ isue_refund", "suite.toml:10", "did you mean 'issue_refund'?"),
    ("ends with nothing", "suite.toml", "runs = 3", 'runs = 3\ncycle = { ends_with = "finish" }', "suite.toml:8", "no tool 'finish'; name one of them"),
    ("no such grader", "suite.toml", '"unchanged"', '"unchange"', "suite.toml:12", "no grader 'unchange'; did you mean 'unchanged'?"),
    ("no such function", "suite.toml", "told_the_truth", "tell_the_truth", "suite.toml:12", "no function in grader.py 'tell_the_truth'; did you mean 'told_the_truth'?"),
    ("no such file", "suite.toml", '"policy.md"', '"polici.md"', "suite.toml:6", "no file 'polici.md'; did you mean 'policy.md'?"),
    ("unknown code", "suite.toml", "forbidden_action", "forbiden_action", "suite.toml:15", "no reason code; did you mean 'forbidden_action'?"),
    ("unknown slice", "suite.toml", "slice.fraud", "slice.frauds", "suite.toml:17", "no slice of this name; did you mean 'fraud'?"),
    ("unknown rule", "suite.toml", "overall = ", "overal = ", "suite.toml:16", "unknown key; did you mean 'overall'?"),
    ("bare number", "suite.toml", "{ rate = 0.85 }", "0.85", "suite.toml:16", "bare number; write { rate = 0.85 }"),
    ("percentage", "suite.toml", "rate = 0.85", "rate = 85", "suite.toml:16", "not a share; write 0.85 for 85%"),
    ("nobody passes", "suite.toml", "rate = 0.85", "lower_bound = 0.85", "suite.toml:16", "nobody can pass the rule overall.lower_bound; add cases of other groups"),
    ("none fails", "suite.toml", "rate = 0.85", "rate = 0.0", "suite.toml:16", "none can fail the rule overall.rate; raise its figure"),
    ("unknown metric", "suite.toml", "compare =", "metric.recall = { rate = 1.0 }\ncompare =", "suite.toml:18", "no metric 'recall'"),
    ("user left out", "suite.toml", 'user = { kind = "scripted", max_turns = 8 }\n', "", "cases.jsonl:1", "the suite has no user; add it to suite.toml"),
    ("too many turns", "suite.toml", "max_turns = 8", "max_turns = 1", "cases.jsonl:1", "the last turns are never said; write max_turns = 2"),
    ("misspelt key of a case", "cases.jsonl", '"expect":{"refunds":[{', '"expects":{"refunds":[{', "cases.jsonl:1", "unknown key 'expects'; did you mean 'expect'?"),
    ("broken case", "cases.jsonl", '{"id":"R31",', '{"id":"R31"', "cases.jsonl:2", "invalid JSON; mend the JSON of this line"),
    ("blank line", "cases.jsonl", "\n", "\n\n", "cases.jsonl:2", "blank line; remove the line"),
    ("key twice", "cases.jsonl", '"slice":"late"', '"slice":"late","slice":"x"', "cases.jsonl:1", "duplicate JSON key; remove one of the two"),
    ("id twice", "cases.jsonl", '"id":"R31"', '"id":"R07"', "cases.jsonl:2", "two cases have one id; R07, as in line 1; give the case an id of its own"),
    ("unknown table", "cases.jsonl", '"setup":{"orders"', '"setup":{"order"', "cases.jsonl:1", "no table 'order'; did you mean 'orders'?"),
    ("unknown column", "cases.jsonl", '"cents":4200,"status"', '"cent":4200,"status"', "cases.jsonl:1", "no column in orders 'cent'; did you mean 'cents'?"),
    ("wrong type in a row", "cases.jsonl", '"cents":4200,"status"', '"cents":"4200","status"', "cases.jsonl:1", "setup.orders[0].cents; expected an integer, found '4200'"),
    ("row without key", "cases.jsonl", '[{"id":"B2",', "[{", "cases.jsonl:2", "setup.orders[0]; id can't be left out"),
    ("broken reference", "cases.jsonl", '"setup":{', '"setup":{"refunds":[{"order_id":"Z","cents":1}],', "cases.jsonl:1", "refers to a row of orders that isn't there"),
    ("expects no table", "cases.jsonl", '"expect":{"refunds":[]}', '"expect":{"refund":[]}', "cases.jsonl:2", "expect.refund; did you mean 'refunds'?"),
    ("expects the wrong type", "cases.jsonl", '"A7","cents":4200}]', '"A7","cents":42.5}]', "cases.jsonl:1", "expect.refunds[0].cents; expected an integer"),
    ("answer of no type", "cases.jsonl", '"expect":{"refunds":[]}', '"answer":{"refunded":"no"}', "cases.jsonl:2", "no agent could give this answer; refunded: expected boolean"),
    ("fault beyond the cycles", "cases.jsonl", '"setup"', '"faults":[{"cycle":2,"tool":"get_order","nth":1,"phase":"after"}],"setup"', "cases.jsonl:1", 'cycle 2 never comes; write "cycles": 2'),
    ("fault of no tool", "cases.jsonl", '"setup"', '"faults":[{"cycle":1,"tool":"get_ordr","nth":1,"phase":"after"}],"setup"', "cases.jsonl:1", "faults[0].tool; did you mean 'get_order'?"),
    ("fault that never fires", "cases.jsonl", '"setup"', '"faults":[{"cycle":1,"tool":"issue_refund","nth":2,"phase":"after"}],"setup"', "cases.jsonl:1", "call 2 of issue_refund is never permitted; lower nth"),
    ("no such phase", "cases.jsonl", '"setup"', '"faults":[{"cycle":1,"tool":"get_order","nth":1,"phase":"during"}],"setup"', "cases.jsonl:1", "faults[0].phase; Invalid enum value 'during'"),
    ("event of no name", "cases.jsonl", '"setup"', EVENT % ("loose", "{}") + '"setup"', "cases.jsonl:1", "no event 'loose'; did you mean 'lose'?"),
    ("event with wrong arguments", "cases.jsonl", '"setup"', EVENT % ("lose", '{"order":"A7"}') + '"setup"', "cases.jsonl:1", "the event lose can't take these arguments; expected lose(id)"),
    ("no docstring", "world.py", '    "Look up one order."\n', "", "world.py:9", "get_order has no docstring; write one"),
    ("undeclared table", "world.py", "SELECT * FROM orders", "SELECT * FROM refunds JOIN orders", "world.py:12", "get_order reads refunds, which it doesn't declare; add the table to reads="),
    ("declares no table", "world.py", '@desk.tool(reads="orders")', '@desk.tool(reads="order orders")', "world.py:9", "no table 'order'; did you mean 'orders'?"),
    ("broken SQL", "world.py", "SELECT * FROM orders WHERE id", "SELECT * FROM orders WHERE number", "world.py:12", "no such column: number; mend the statement"),
    ("wrong parameters", "world.py", "id = ?\", id)", "id = ?\")", "world.py:12", "Incorrect number of bindings"),
    ("broken Python", "world.py", "def get_order(", "def get_order[", "world.py:10", "mend"),
    ("raises when loaded", "world.py", '@desk.tool(writes="orders")', "1 / 0\n@desk.tool(writes=\"orders\")", "world.py:21", "ZeroDivisionError; expected a file that runs on its own"),
    ("broken schema", "world.py", "CREATE TABLE orders(", "CREATE TABL orders(", "world.py:4", "not valid SQL"),
    ("bad clock", "world.py", "2026-11-30T09:00:00Z", "30.11.2026", "world.py:4", "a UTC instant; found 30.11.2026"),
    ("parameter of no type", "world.py", "cents: int, reason: str", "cents: complex, reason: str", "world.py:14", "issue_refund; annotations that JSON can express"),
    ("grader that breaks", "grader.py", 'e.answer["refunded"]', 'e.answer["refund"]', "grader.py:6", "KeyError: 'refund'; let the grader cope"),
    ("undeclared code", "grader.py", "return e.ok()", 'return e.fail("oops")', "suite.toml:12", "gave the code 'oops', which it didn't declare; declare every code"),
    ("code without meaning", "grader.py", '"says refunded; no refund was booked"', '""', "grader.py:4", "can't be registered; a sentence that says what it means"),
    ("not a grader", "grader.py", '@grader(codes={"false_promise": "says refunded; no refund was booked"})\n', "", "suite.toml:12", "is no grader; mend the grader: declare it with @grader"),
]

WARNED = [
    ("machine's clock", "world.py", "import Denied, world", "import Denied, world\nimport time\nNOW = time.time()", "world.py:4", "time.time is the machine's clock; db.now()"),
    ("machine's dice", "grader.py", "import Evidence, Grade, grader", "import Evidence, Grade, grader\nfrom random import random as r\nX = r()", "grader.py:4", "random.random is the machine's dice"),
    ("holds already", "cases.jsonl", '"expect":{"refunds":[]}', '"expect":{"orders":[{"id":"B2"}]}', "cases.jsonl:2", "already holds what is expected"),
    ("nobody to talk to", "cases.jsonl", '"user":["A7 never came","Yes, money back"],', "", "suite.toml:8", "no case has a turn"),
    ("never scheduled", "world.py", "\n@desk.tool(writes", LOSE + "\n@desk.tool(writes", "world.py:21", "no case schedules the event lose"),
    ("isolation that can't be had", "suite.toml", "runs = 3", 'runs = 3\nisolation = "T4"', "suite.toml:8", "demands isolation tier T4"),
]
# fmt: on


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The refund suite with a gate that two cases can pass."""
    folder = copy_suite(tmp_path)
    edit(folder, "suite.toml", "lower_bound = 0.85", "rate = 0.85")
    edit(folder, "suite.toml", "         # or { rate = … }: a rule always says which", "")
    return folder


def _place(mistake: Mistake) -> str:
    return f"{mistake.file}:{mistake.line}" if mistake.line else mistake.file


def _assert_found(mistakes: tuple[Mistake, ...], level: str, where: str, words: str) -> None:
    told = [f"{m.level} {m.text}" for m in mistakes]
    for mistake in mistakes:
        there = mistake.level == level and where == _place(mistake)
        if there and all(word in mistake.text for word in words.split("; ")):
            assert mistake.fix, "every mistake says what to do"
            return
    raise AssertionError(f"not found at {where}: {words}\n" + "\n".join(told))


@pytest.mark.parametrize(("file", "old", "new", "where", "words"), [pytest.param(*m[1:], id=m[0]) for m in SEEDED])
def test_each_seeded_mistake_has_file_line_and_fix(
    suite: Path, file: str, old: str, new: str, where: str, words: str
) -> None:
    if "event" in words:
        edit(suite, "world.py", '\n@desk.tool(writes="orders")', LOSE + '\n@desk.tool(writes="orders")')
    edit(suite, file, old, new)
    found = check_suite(suite)
    assert found.exit_code == 2
    _assert_found(found.mistakes, "mistake", where, words)


@pytest.mark.parametrize(("file", "old", "new", "where", "words"), [pytest.param(*m[1:], id=m[0]) for m in WARNED])
def test_what_is_probably_not_meant_is_a_warning(
    suite: Path, file: str, old: str, new: str, where: str, words: str
) -> None:
    edit(suite, file, old, new)
    if file == "cases.jsonl" and "user" in old:
        edit(suite, file, '"user":["Refund B2 twice, my bank asks"],', "")
    found = check_suite(suite)
    _assert_found(found.mistakes, "warning", where, words)
    assert found.exit_code == 0, [m.text for m in found.mistakes]


def test_a_suite_without_mistakes(suite: Path) -> None:
    found = check_suite(suite)
    assert found.mistakes == ()
    assert (found.cases, found.groups, found.runs, found.exit_code) == (2, 2, 3, 0)
    assert found.floor is not None
    assert (found.floor.passed, found.floor.total) == (1, 2)
    assert found.chance is not None
    assert 0.7 < found.chance.chance < 0.95


def test_all_mistakes_come_at_once(suite: Path) -> None:
    for file, old, new in (
        ("suite.toml", "runs = 3", 'runs = "3"'),
        ("suite.toml", "policy =", "polizy ="),
        ("suite.toml", "overall =", "overal ="),
        ("suite.toml", '"forbidden_action"', '"forbidden_acton"'),
        ("suite.toml", '"delete_order"', '"delete_ordr"'),
        ("cases.jsonl", '"cents":4200,"status"', '"cent":4200,"status"'),
        ("cases.jsonl", '"group":"cust-9"', '"grup":"cust-9"'),
        (
            "world.py",
            'def delete_order(db, id: str) -> None:\n    "Delete an order."',
            "def delete_order(db, id: str) -> None:",
        ),
    ):
        edit(suite, file, old, new)
    found = check_suite(suite)
    told = " | ".join(m.text for m in found.mistakes)
    words = ("'runs'", "polizy", "overal", "delete_ordr", "cent", "grup", "delete_order has no docstring")
    assert [w for w in words if w.strip("'") not in told] == []
    assert found.floor is None
    assert found.chance is not None or found.cases


def test_the_suite_as_written_needs_more_groups(tmp_path: Path) -> None:
    found = check_suite(copy_suite(tmp_path))
    (mistake,) = found.mistakes
    assert _place(mistake) == "suite.toml:16"
    assert "it takes 22 clusters" in mistake.text
    assert found.chance is not None
    assert found.chance.chance == 0.0


def test_the_command(suite: Path) -> None:
    fine = CliRunner().invoke(check, [str(suite)], standalone_mode=False)
    assert "refund: 0 mistakes, 0 warnings" in fine.output
    assert "do-nothing floor: 1 of 2 cases pass if nothing is done" in fine.output
    assert "an agent that passes 98% of its cells passes this gate in" in fine.output
    assert fine.return_value == 0
    edit(suite, "suite.toml", "graders =", "grader =")
    broken = CliRunner().invoke(check, [str(suite), "--json"], standalone_mode=False)
    assert broken.return_value == 2
    first = msgspec.json.decode(broken.stdout)["mistakes"][0]
    assert (first["file"], first["line"], first["code"]) == ("suite.toml", 12, "unknown_key")


def test_the_suites_that_ship_have_no_mistake() -> None:
    found = check_suite("call-import")
    assert [m.text for m in found.mistakes] == []
