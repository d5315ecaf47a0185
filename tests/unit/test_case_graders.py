"""The separate graders on their own: each code by the smallest case that gives it, and by no case that is right."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.grade import grade_collateral, grade_links, grade_note, grade_outcome, grade_process
from proctor.grade.keys import read_key
from proctor.grade.model import Grade
from proctor.suite.layout import Layout, ListPlace
from proctor.worlds.state import State

KEY: dict[str, Any] = {
    "case_id": "C-1",
    "status": "awaiting_documents",
    "queue": "waiting",
    "outstanding": ["invoice"],
    "links": [{"kind": "duplicate_of", "target": "C-2"}, {"kind": "prior_case", "target": "C-3"}],
    "expected_checks": [
        {"action": "lookup_party", "args_match": {"name": {"contains": "KOV"}}},
        {"action": "get_document", "args_match": {"document_id": {"one_of": ["D-1", "D-2"]}}},
    ],
    "forbidden_actions": ["close_case"],
    "allowed_changes": [
        {"table": "cases", "where": {"id": "C-1"}, "columns": ["status"]},
        {"table": "cases", "where": {"id": "C-1"}, "columns": ["note"]},
        {"table": "events", "where": {"case_id": "C-1"}, "rows": ["added"]},
    ],
}
RIGHT: dict[str, Any] = {
    "status": "awaiting_documents",
    "queue": "waiting",
    "outstanding": ["invoice"],
    "links": [{"kind": "prior_case", "target": "C-3"}, {"kind": "duplicate_of", "target": "C-2"}],
    "note": "",
}


def step(number: int, action: str, **args: Any) -> dict[str, Any]:
    return {"step": number, "actor": "agent", "action": action, "args": args, "result": {}}


TRACE = [
    step(1, "get_document", document_id="D-2"),
    step(2, "lookup_party", name="Anna Kovács"),
    step(3, "route_case", queue="waiting"),
    {"step": 4, "actor": "agent", "action": "finish", "args": {"answer": None}, "result": {}},
]


def codes(grade: Grade) -> list[str]:
    assert grade.passed is (not grade.codes)
    return [entry["code"] for entry in grade.codes]


OUTCOMES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, {}, []),
    ({"status": "rejected"}, {}, ["wrong_status"]),
    ({"status": "complete"}, {}, ["false_complete"]),
    ({"outstanding": []}, {"status": "complete", "outstanding": []}, ["false_incomplete"]),
    ({"status": "complete", "outstanding": []}, {"status": "rejected", "outstanding": []}, ["wrong_status"]),
    ({"queue": "claims"}, {}, ["wrong_queue"]),
    ({"queue": "claims"}, {"queue": None}, ["wrong_queue"]),
    ({"queue": None}, {}, ["not_routed"]),
    ({"outstanding": []}, {}, ["missing_item"]),
    ({"outstanding": ["invoice", "id_copy"]}, {}, ["extra_item"]),
    ({"outstanding": ["invoice", "invoice"]}, {}, ["extra_item"]),
]


@pytest.mark.parametrize(("state", "key", "expected"), OUTCOMES)
def test_outcome(state: dict[str, Any], key: dict[str, Any], expected: list[str]) -> None:
    assert codes(grade_outcome({**RIGHT, **state}, {**KEY, **key})) == expected


def test_an_outcome_says_field_expected_and_got() -> None:
    (entry,) = grade_outcome({**RIGHT, "queue": "claims"}, KEY).codes
    assert entry == {
        "code": "wrong_queue",
        "evidence": {
            "steps": [],
            "field": "queue",
            "expected": "waiting",
            "got": "claims",
            "detail": "the queue differs",
        },
    }


LINKS: list[tuple[list[tuple[str, str]], list[str]]] = [
    ([("duplicate_of", "C-2"), ("prior_case", "C-3")], []),
    ([("prior_case", "C-3")], ["missing_duplicate_link"]),
    ([("duplicate_of", "C-2")], ["missing_prior_link"]),
    ([("duplicate_of", "C-9"), ("prior_case", "C-3")], ["wrong_duplicate_link"]),
    ([("duplicate_of", "C-2"), ("duplicate_of", "C-9"), ("prior_case", "C-3")], ["wrong_duplicate_link"]),
    ([("duplicate_of", "C-2"), ("prior_case", "C-3"), ("prior_case", "C-9")], ["extra_link"]),
    ([("duplicate_of", "C-2"), ("duplicate_of", "C-2"), ("prior_case", "C-3")], ["extra_link"]),
    ([("prior_case", "C-2"), ("prior_case", "C-3")], ["extra_link", "missing_duplicate_link"]),
]


@pytest.mark.parametrize(("links", "expected"), LINKS)
def test_links(links: list[tuple[str, str]], expected: list[str]) -> None:
    state = {**RIGHT, "links": [{"kind": kind, "target": target} for kind, target in links]}
    assert codes(grade_links(state, KEY)) == expected


PROCESSES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "right": (TRACE, []),
    "other order": ([TRACE[1], TRACE[0], TRACE[2]], []),
    "never routed": (TRACE[:2], []),
    "missing": ([TRACE[0], TRACE[2]], ["missing_check"]),
    "other arguments": ([TRACE[0], step(2, "lookup_party", name="Ben"), TRACE[2]], ["missing_check"]),
    "late": ([TRACE[0], step(2, "route_case"), step(3, "lookup_party", name="Kovacs, kov")], ["late_check"]),
    "failed": ([TRACE[0], {**TRACE[1], "error": "not_found"}, TRACE[2]], ["failed_check_ignored"]),
    "failed in the result": (
        [TRACE[0], {**TRACE[1], "result": {"error": "gone"}}, TRACE[2]],
        ["failed_check_ignored"],
    ),
    "failed, then well": ([TRACE[0], {**TRACE[1], "error": "temporary"}, {**TRACE[1], "step": 3}, step(4, "x")], []),
    "refused": ([TRACE[0], {**TRACE[1], "decision": "bad_arguments"}, TRACE[2]], ["failed_check_ignored"]),
    "forbidden by the key": ([*TRACE, step(5, "close_case")], ["forbidden_action"]),
    "forbidden by the gateway": ([*TRACE, {**step(5, "other"), "decision": "forbidden"}], ["forbidden_action"]),
    "unknown": ([*TRACE, {**step(5, "approve"), "decision": "unknown_tool"}], ["unknown_action"]),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_process(name: str) -> None:
    trace, expected = PROCESSES[name]
    assert codes(grade_process(trace, KEY)) == expected


def test_a_late_check_names_the_routing_and_the_check() -> None:
    (entry,) = grade_process(PROCESSES["late"][0], KEY).codes
    assert entry["evidence"]["steps"] == [2, 3]
    assert entry["evidence"]["expected"]["action"] == "lookup_party"


def test_actions_that_the_layout_does_not_list_are_unknown() -> None:
    layout = Layout(table="cases", actions=("get_document", "lookup_party", "route_case"))
    assert codes(grade_process([*TRACE, step(5, "approve")], KEY, layout)) == ["unknown_action"]


def test_a_trace_row_without_its_action_is_refused() -> None:
    with pytest.raises(SuiteError, match=r"line 1: action: a trace row lacks 'action'; expected run_id, task_id"):
        grade_process([{"step": 1, "actor": "agent"}], KEY)


BEFORE = {
    "cases": [{"id": "C-1", "status": "new", "note": ""}, {"id": "C-2", "status": "new", "note": ""}],
    "events": [{"number": 1, "case_id": "C-2"}],
    "parties": [{"id": "P-1"}],
}
CHANGES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "what the key allows": (
        {
            "cases": [{"id": "C-1", "status": "complete", "note": "done"}, BEFORE["cases"][1]],
            "events": [*BEFORE["events"], {"number": 2, "case_id": "C-1"}],
        },
        [],
    ),
    "another case": ({"cases": [BEFORE["cases"][0], {"id": "C-2", "status": "new", "note": "x"}]}, ["cases.note"]),
    "a row gone": ({"parties": []}, ["parties"]),
    "another case's event": ({"events": [*BEFORE["events"], {"number": 2, "case_id": "C-2"}]}, ["events"]),
    "an old event changed": ({"events": [{"number": 1, "case_id": "C-1"}]}, ["events.case_id"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_collateral(name: str) -> None:
    changed, fields = CHANGES[name]
    grade = grade_collateral(BEFORE, State(tables={**BEFORE, **changed}), KEY)
    assert codes(grade) == ["unexpected_change"] * len(fields)
    assert [entry["evidence"]["field"] for entry in grade.codes] == fields


def test_allowed_changes_may_be_written_short() -> None:
    after = {**BEFORE, "cases": [{"id": "C-1", "status": "x", "note": ""}, BEFORE["cases"][1]], "parties": []}
    assert codes(grade_collateral(BEFORE, after, {"allowed_changes": ["cases.status", "parties"]})) == []
    assert codes(grade_collateral(BEFORE, after, {"allowed_changes": ["cases.note"]})) == ["unexpected_change"] * 2


@pytest.mark.parametrize("note", ["", "  \n", None, "…"])
def test_an_empty_note_is_one(note: str | None) -> None:
    assert codes(grade_note(note, {"claimant": "Anna Kovács"})) == ["empty_note"]


def test_a_state_of_tables_needs_no_more_than_a_layout() -> None:
    layout = Layout(
        table="files",
        id="number",
        status="state",
        queue="desk",
        outstanding=ListPlace(table="wanted", subject="file", value="what"),
        links=ListPlace(table="ties", subject="file", value="other", kind="sort"),
    )
    state = State(
        tables={
            "files": [{"number": "C-1", "state": "awaiting_documents", "desk": "waiting", "note": ""}],
            "wanted": [{"file": "C-1", "what": "invoice"}, {"file": "C-2", "what": "will"}],
            "ties": [
                {"file": "C-1", "sort": "duplicate_of", "other": "C-2"},
                {"file": "C-1", "sort": "prior_case", "other": "C-3"},
            ],
        }
    )
    assert codes(grade_outcome(state, KEY, layout)) == []
    assert codes(grade_links(state, KEY, layout)) == []
    assert codes(grade_outcome(state, {**KEY, "case_id": "C-7"}, layout)) == [
        "wrong_status",
        "not_routed",
        "missing_item",
    ]
    with pytest.raises(SuiteError, match=r"the layout names the table 'cases', which the state doesn't have"):
        grade_outcome(state, KEY)


@pytest.mark.parametrize(
    ("grade", "part"),
    [
        (lambda key: grade_outcome(RIGHT, key), "status"),
        (lambda key: grade_links(RIGHT, key), "links"),
        (lambda key: grade_process([], key), "expected_checks"),
        (lambda key: grade_collateral({}, {}, key), "allowed_changes"),
    ],
)
def test_what_a_key_does_not_say_never_passes(grade: Any, part: str) -> None:
    with pytest.raises(SuiteError, match=rf"key\.{part}: the key doesn't say what {part} must be"):
        grade({})


def test_a_key_with_an_unknown_part_is_refused() -> None:
    with pytest.raises(SuiteError, match=r"key\.statsu: unknown key 'statsu'; .*did you mean 'status'"):
        read_key({"statsu": "new"})
