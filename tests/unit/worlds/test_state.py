"""Differences between states are multisets of typed rows."""

from __future__ import annotations

from proctor.worlds.state import Change, State, diff_states


def state(*rows: dict[str, object]) -> State:
    return State(tables={"t": list(rows)})


def test_equal_states_do_not_differ() -> None:
    assert diff_states(state({"id": 1}), state({"id": 1})) == []


def test_a_changed_row_is_paired_by_its_first_column() -> None:
    assert diff_states(state({"id": 1, "x": "a"}), state({"id": 1, "x": "b"})) == [
        Change(table="t", before={"id": 1, "x": "a"}, after={"id": 1, "x": "b"})
    ]


def test_duplicates_count() -> None:
    assert diff_states(state({"id": 1}), state({"id": 1}, {"id": 1})) == [
        Change(table="t", before=None, after={"id": 1})
    ]


def test_types_count() -> None:
    assert diff_states(state({"id": 2}), state({"id": 2.0})) == [Change(table="t", before={"id": 2}, after={"id": 2.0})]


def test_a_table_that_appears_or_vanishes_shows() -> None:
    assert diff_states(State(tables={}), state({"id": 1})) == [Change(table="t", before=None, after={"id": 1})]
    assert diff_states(state({"id": 1}), State(tables={})) == [Change(table="t", before={"id": 1}, after=None)]


def test_rows_of_an_unknown_table_name_the_tables_there_are() -> None:
    try:
        state().rows("u")
    except KeyError as error:
        assert "no table 'u'; this world has t" in str(error)
    else:
        raise AssertionError("an unknown table gave rows")
