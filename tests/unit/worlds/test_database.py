"""What a tool declares is what it can touch, whatever it tries."""

from __future__ import annotations

import pytest

from proctor import Conflict, Denied, NotFound, world
from proctor.errors import InfrastructureError, SuiteError
from proctor.worlds.session import Session

desk = world(
    """
    CREATE TABLE orders(id TEXT PRIMARY KEY, customer, cents INT, note TEXT, ratio REAL);
    CREATE TABLE refunds(order_id TEXT REFERENCES orders, cents INT);
    CREATE TABLE secrets(value TEXT);
    CREATE VIEW open_orders AS SELECT * FROM orders;
    INSERT INTO secrets VALUES ('s');
    """,
    clock="2026-11-30T09:00:00Z",
)


@desk.tool(reads="orders")
def get_order(db, id: str) -> dict:
    "One order."
    return db.one("SELECT id, cents FROM orders WHERE id = ?", id)


@desk.tool(reads="secrets")
def get_secret(db) -> dict:
    "The secret."
    return db.one("SELECT value FROM secrets")


@desk.tool(reads="orders")
def same_sql_as_get_secret(db) -> dict:
    "Must not profit from the statement cache."
    return db.one("SELECT value FROM secrets")


@desk.tool(reads="orders", writes="refunds")
def refund(db, order_id: str, cents: int) -> dict:
    "Refund."
    if cents > get_order(db, order_id)["cents"]:
        raise Denied("more than was paid")
    return db.insert("refunds", order_id=order_id, cents=cents)


@desk.tool(writes="refunds")
def refund_then_refuse(db, order_id: str) -> None:
    "Writes, then refuses: nothing may stay."
    db.insert("refunds", order_id=order_id, cents=1)
    raise Denied("changed my mind")


@desk.tool(reads="orders", writes="refunds")
def swallow_nested_refusal(db, order_id: str) -> dict:
    "A swallowed refusal of a callee must leave no row behind."
    try:
        refund_then_refuse(db, order_id)
    except Denied:
        return {"swallowed": True}
    return {"swallowed": False}


@desk.tool(reads="orders")
def swallow_denied_access(db) -> dict:
    "A swallowed denial still fails the call."
    try:
        db.all("SELECT * FROM secrets")
    except Exception:
        return {"leaked": False}
    return {"leaked": True}


@desk.tool(reads="orders")
def try_sql(db, sql: str) -> list:
    "Runs any SQL (only a test does that)."
    return db.all(sql)


@desk.tool(writes="orders")
def insert_order(db, row: dict) -> dict:
    "Insert."
    return db.insert("orders", **row)


@desk.tool(reads="orders")
def give(db, what: str) -> object:
    "Returns things that JSON can't say."
    return {"set": {1}, "bytes": b"x", "inf": float("inf"), "keys": {1: 2}, "tuple": (1,), "ok": {"a": [1, 1.5]}}[what]


@desk.tool(reads="orders")
def spin(db) -> object:
    "Runaway SQL."
    return db.all("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")


@desk.event(writes="orders")
def lose(db, id: str) -> None:
    "An order is lost."
    db.run("DELETE FROM orders WHERE id = ?", id)


@pytest.fixture
def session() -> Session:
    made = Session(desk, step_limit=200)
    made.reset({"orders": [{"id": "A7", "cents": 4200, "note": "x"}]}, "seed")
    return made


def test_a_tool_reads_what_it_declares(session: Session) -> None:
    assert session.call("get_order", b'{"id":"A7"}').result == b'{"id":"A7","cents":4200}'


def test_a_missing_row_is_shown_as_not_found(session: Session) -> None:
    answer = session.call("get_order", b'{"id":"B1"}')
    assert (answer.error, answer.message) == ("not_found", "no such row")


def test_a_refusal_inside_a_nested_tool_reaches_the_agent(session: Session) -> None:
    answer = session.call("refund", b'{"order_id":"A7","cents":4201}')
    assert (answer.error, answer.message) == ("denied", "more than was paid")


def test_identical_sql_in_another_tool_does_not_carry_its_permission(session: Session) -> None:
    assert session.call("get_secret", b"{}").result == b'{"value":"s"}'
    with pytest.raises(InfrastructureError, match="same_sql_as_get_secret reads secrets, which it doesn't declare"):
        session.call("same_sql_as_get_secret", b"{}")


def test_a_refused_call_leaves_no_trace_in_the_state(session: Session) -> None:
    before = session.logical_digest()
    assert session.call("refund_then_refuse", b'{"order_id":"A7"}').error == "denied"
    assert session.logical_digest() == before


def test_a_swallowed_refusal_of_a_callee_is_rolled_back(session: Session) -> None:
    before = session.logical_digest()
    assert session.call("swallow_nested_refusal", b'{"order_id":"A7"}').result == b'{"swallowed":true}'
    assert session.logical_digest() == before


def test_a_swallowed_denial_is_latched(session: Session) -> None:
    with pytest.raises(InfrastructureError, match="reads secrets"):
        session.call("swallow_denied_access", b"{}")
    assert session.call("get_order", b'{"id":"A7"}').error is None


@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA user_version",
        "SELECT * FROM sqlite_master",
        "ATTACH ':memory:' AS other",
        "CREATE TABLE t(x)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END",
        "SELECT load_extension('x')",
        "SELECT * FROM json_each('[1]')",
        "SELECT * FROM JSON_Each('[1]')",
        "SELECT * FROM Pragma_Table_Info('orders')",
        "WITH s AS (SELECT * FROM secrets) SELECT * FROM s",
        "SELECT * FROM Secrets",
        "SELECT * FROM open_orders",
        "DELETE FROM orders",
        "UPDATE orders SET cents = 0",
        "ROLLBACK",
        "COMMIT",
        "SAVEPOINT x",
    ],
)
def test_what_no_tool_may_run(session: Session, sql: str) -> None:
    before = session.logical_digest()
    with pytest.raises(InfrastructureError):
        session.call("try_sql", ('{"sql":"' + sql + '"}').encode())
    assert session.logical_digest() == before
    assert session.call("get_order", b'{"id":"A7"}').error is None


def test_the_clock_and_the_dice_of_sql_are_the_worlds(session: Session) -> None:
    sql = (
        "SELECT datetime('now') a, current_timestamp b, date() c, strftime('%Y') d, unixepoch() e, "
        "random() f, hex(randomblob(4)) g, datetime('2026-01-31','+1 day') h"
    )
    argument = ('{"sql":"' + sql + '"}').encode()
    first = session.call("try_sql", argument).result
    session.reset({"orders": []}, "seed")
    assert session.call("try_sql", argument).result == first
    assert b'"a":"2026-11-30 09:00:00","b":"2026-11-30 09:00:00","c":"2026-11-30","d":"2026","e":1796029200' in first
    assert b'"h":"2026-02-01 00:00:00"' in first
    session.reset({"orders": []}, "another seed")
    assert session.call("try_sql", argument).result != first


@pytest.mark.parametrize("what", ["set", "bytes", "inf", "keys", "tuple"])
def test_a_result_that_json_would_change_breaks_the_call(session: Session, what: str) -> None:
    with pytest.raises(InfrastructureError, match="what JSON can't say"):
        session.call("give", ('{"what":"' + what + '"}').encode())


def test_a_result_that_json_can_say_is_handed_over(session: Session) -> None:
    assert session.call("give", b'{"what":"ok"}').result == b'{"a":[1,1.5]}'


def test_runaway_sql_is_stopped(session: Session) -> None:
    with pytest.raises(InfrastructureError, match="spin broke"):
        session.call("spin", b"{}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"id":"N","cents":"abc"}', "orders.cents: expected an integer"),
        ('{"id":"N","cents":42.5}', "orders.cents: expected an integer"),
        ('{"id":null}', "orders.id: can't be null"),
        ('{"id":"N","note":5}', "orders.note: expected text"),
        ('{"id":"N","ratio":"1"}', "orders.ratio: expected a number"),
        ('{"id":"N","colour":"red"}', "orders has no column colour"),
        ('{"id":"A7","cents":1}', "UNIQUE constraint failed"),
    ],
)
def test_insert_checks_the_declared_types(session: Session, row: str, message: str) -> None:
    answer = session.call("insert_order", ('{"row":' + row + "}").encode())
    assert answer.error == "conflict"
    assert message in answer.message


def test_a_foreign_key_may_be_checked_without_declaring_the_parent(session: Session) -> None:
    assert session.call("refund", b'{"order_id":"A7","cents":1}').error is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (b'{"id":"A7","id":"B1"}', "duplicate"),
        (b'{"id":7}', "Expected `str`"),
        (b"{}", "missing required field `id`"),
        (b'{"id":"A7","x":1}', "unknown field `x`"),
        (b"[]", "object"),
        (b'{"id":NaN}', ""),
        (b"", "EOF"),
    ],
)
def test_bad_arguments_are_explained(session: Session, arguments: bytes, words: str) -> None:
    answer = session.call("get_order", arguments)
    assert answer.error == "bad_arguments"
    assert words in answer.message


def test_integers_beyond_what_json_readers_keep_are_refused(session: Session) -> None:
    answer = session.call("refund", b'{"order_id":"A7","cents":9007199254740993}')
    assert answer.error == "bad_arguments"
    assert "2^53-1" in answer.message


def test_a_reset_starts_from_the_snapshot_bytes(session: Session) -> None:
    setup = {"orders": [{"id": "B2", "cents": 1}]}
    first = session.reset(setup, "s")
    session.call("refund", b'{"order_id":"B2","cents":1}')
    second = session.reset(setup, "s")
    assert first == second
    assert second.bytes_sha256 == second.snapshot_sha256


def test_setup_that_contradicts_the_schema_is_explained() -> None:
    with pytest.raises(
        SuiteError, match=r"setup\.orders\[1\] contradicts the world's schema: orders has no column cent;"
    ):
        Session(desk).reset({"orders": [{"id": "A"}, {"id": "B", "cent": 1}]}, "s")


def test_setup_with_a_dangling_reference_is_explained() -> None:
    with pytest.raises(SuiteError, match=r"setup\.refunds refers to a row of orders that isn't there"):
        Session(desk).reset({"refunds": [{"order_id": "Z", "cents": 1}]}, "s")


def test_an_event_changes_the_world_and_is_no_tool(session: Session) -> None:
    session.event("lose", b'{"id":"A7"}')
    assert session.call("get_order", b'{"id":"A7"}').error == "not_found"
    assert "lose" not in [tool.name for tool in session.tools]


def test_an_unknown_event_is_the_suites_mistake(session: Session) -> None:
    with pytest.raises(SuiteError, match="the world has no event loose; expected lose"):
        session.event("loose", b"{}")


def test_the_logical_digest_ignores_row_order_and_sees_types() -> None:
    rows = [{"id": "A", "cents": 1}, {"id": "B", "cents": 2}]
    one, two = Session(desk), Session(desk)
    one.reset({"orders": rows}, "s")
    two.reset({"orders": rows[::-1]}, "s")
    assert one.logical_digest() == two.logical_digest()
    two.reset({"orders": [{"id": "A", "cents": 1, "customer": "1"}, {"id": "B", "cents": 2}]}, "s")
    one.reset({"orders": [{"id": "A", "cents": 1, "customer": 1}, {"id": "B", "cents": 2}]}, "s")
    assert one.logical_digest() != two.logical_digest()


def test_tools_become_schemas() -> None:
    spec = next(tool for tool in Session(desk).tools if tool.name == "refund")
    assert spec.description == "Refund."
    assert spec.parameters == {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "cents": {"type": "integer"}},
        "required": ["order_id", "cents"],
        "additionalProperties": False,
    }


def test_two_operations_with_one_name_are_refused() -> None:
    other = world("CREATE TABLE t(x);", clock="2026-11-30T09:00:00Z")

    def wipe(db) -> None:
        "Wipe."

    other.tool()(wipe)
    with pytest.raises(SuiteError, match="two operations of this world are named wipe"):
        other.event()(wipe)
    with pytest.raises(SuiteError, match="a tool needs a name; expected a function made with def"):
        other.tool()(lambda db: None)


def test_a_world_needs_a_utc_instant_and_a_table() -> None:
    with pytest.raises(SuiteError, match="a world's clock is a UTC instant"):
        world("CREATE TABLE t(x);", clock="yesterday")
    with pytest.raises(SuiteError, match="has no table"):
        Session(world("", clock="2026-11-30T09:00:00Z"))
    with pytest.raises(SuiteError, match="not valid SQL"):
        Session(world("CREATE TABEL t(x);", clock="2026-11-30T09:00:00Z"))


def test_tool_outcomes_carry_their_codes() -> None:
    assert [kind.code for kind in (Denied, NotFound, Conflict)] == ["denied", "not_found", "conflict"]
