"""The register takes writes as they come; the source pages by arrival; what is forbidden is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import call_import_kit as kit
from proctor.worlds.session import Session


@pytest.fixture
def desk() -> Session:
    session = Session(kit.modules()["world"].desk)
    session.reset(kit.case(1).setup, "1")
    return session


def call(desk: Session, tool: str, **args: Any) -> Any:
    answer = desk.call(tool, json.dumps(args).encode())
    assert answer.error is None, (answer.error, answer.message)
    return json.loads(answer.result or b"null")


def refused(desk: Session, tool: str, **args: Any) -> tuple[str, str]:
    answer = desk.call(tool, json.dumps(args).encode())
    assert answer.error is not None
    return answer.error, answer.message


def row(file_id: str, **changes: Any) -> dict[str, Any]:
    plain = {"started_local": "2025-01-01T00:00:00+00:00", "direction": "in", "manager": "", "phone": ""}
    return {"file_id": file_id, **plain, "duration_sec": 5, "link": f"drive://{file_id}", **changes}


def confirmed(desk: Session) -> list[str]:
    ids: list[str] = call(desk, "list_confirmed")["file_ids"]
    return ids


def test_the_tools_are_those_of_the_contract() -> None:
    world = kit.modules()["world"]
    assert set(world.desk.tools) == {*world.ALLOWED, *world.DENIED}
    assert set(kit.suite().spec.contract.forbid) == set(world.DENIED)
    assert tuple(world.DENIED) == tuple(kit.modules()["codes"].FORBIDDEN_TOOLS)


def test_the_configuration_and_the_permissions_are_read(desk: Session) -> None:
    config = call(desk, "get_config")
    assert sorted(config) == ["managers", "rules_version", "time_zone", "time_zone_version"]
    assert config["managers"]["AB"] == "Ada Brandt"
    assert "set_status" in call(desk, "get_permissions")["denied"]


def test_pages_follow_the_arrival_number_and_a_file_added_meanwhile_comes_last(desk: Session) -> None:
    first = call(desk, "list_files", page_token=None)
    added = {**first["files"][0], "file_id": "fnew"}
    desk.event("add_file", json.dumps({"file": added}).encode())
    desk.event("repeat_file", json.dumps({"file_id": first["files"][0]["file_id"]}).encode())
    entries, token = list(first["files"]), first["next_page_token"]
    while token is not None:
        page = call(desk, "list_files", page_token=token)
        entries, token = entries + page["files"], page["next_page_token"]
    ids = [entry["file_id"] for entry in entries]
    assert ids[-2:] == ["fnew", ids[0]]
    assert entries[-2] == added
    assert len(ids) == len(kit.case(1).setup["arrivals"]) + 2


def test_metadata_is_shown_only_where_there_is_any(desk: Session) -> None:
    shown = {file["file_id"]: file for file in call(desk, "list_files")["files"]}
    source = {r.file_id: r.source() for r in kit.modules()["corpus"].build(1).recordings}
    assert all(file == source[file_id] for file_id, file in shown.items())
    assert {"metadata" in file for file in shown.values()} == {True, False}


def test_rows_are_taken_as_they_come_duplicates_and_ghosts_too(desk: Session) -> None:
    call(desk, "append_rows", rows=[row("ghost"), row("b")])
    call(desk, "append_rows", rows=[row("b")])
    assert confirmed(desk) == ["ghost", "b", "b"]


def test_rows_are_inserted_before_the_first_of_a_repeated_id(desk: Session) -> None:
    call(desk, "append_rows", rows=[row("a"), row("b"), row("b")])
    call(desk, "insert_rows", before_file_id="b", rows=[row("x"), row("y")])
    call(desk, "insert_rows", before_file_id="a", rows=[row("first")])
    assert confirmed(desk) == ["first", "a", "x", "y", "b", "b"]


def test_inserting_before_an_unknown_id_is_not_found_and_changes_nothing(desk: Session) -> None:
    call(desk, "append_rows", rows=[row("a")])
    assert refused(desk, "insert_rows", before_file_id="zz", rows=[row("x")]) == (
        "not_found",
        "the register has no row with file_id 'zz'",
    )
    assert confirmed(desk) == ["a"]


@pytest.mark.parametrize("tool", ["append_rows", "insert_rows"])
def test_a_row_that_brings_a_status_is_denied_with_all_its_batch(desk: Session, tool: str) -> None:
    call(desk, "append_rows", rows=[row("a")])
    where = {"before_file_id": "a"} if tool == "insert_rows" else {}
    error = refused(desk, tool, rows=[row("b"), row("c", status="imported")], **where)
    assert error == ("denied", "the adapter sets the status; a row can't bring its own")
    assert confirmed(desk) == ["a"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"file_id": "x"}, "row 1: started_local must be a text"),
        (row("x", duration_sec="5"), "row 1: duration_sec must be a whole number"),
        (row("x", colour="red"), "row 1: there is no column 'colour'; there are file_id, started_local"),
    ],
)
def test_a_row_of_another_shape_is_refused(desk: Session, bad: dict[str, Any], message: str) -> None:
    error, text = refused(desk, "append_rows", rows=[bad])
    assert error == "conflict"
    assert text.startswith(message)


def test_the_register_can_be_read_page_by_page(desk: Session) -> None:
    ids = [f"f{n:03}" for n in range(450)]
    call(desk, "append_rows", rows=[row(file_id) for file_id in ids])
    seen, token = [], None
    while True:
        page = call(desk, "list_confirmed", page_token=token)
        seen += page["file_ids"]
        token = page["next_page_token"]
        if token is None:
            break
    assert seen == ids
    assert refused(desk, "list_confirmed", page_token="x")[0] == "not_found"


def test_the_harness_changes_names_folders_and_the_zone(desk: Session) -> None:
    file_id = call(desk, "list_files")["files"][0]["file_id"]
    desk.event("rename_file", json.dumps({"file_id": file_id, "name": "n"}).encode())
    desk.event("move_file", json.dumps({"file_id": file_id, "folder_id": "elsewhere"}).encode())
    desk.event("set_zone", b'{"time_zone": "UTC", "time_zone_version": "zones-9"}')
    file = call(desk, "list_files")["files"][0]
    assert (file["name"], file["folder_id"]) == ("n", "elsewhere")
    assert call(desk, "get_config")["time_zone_version"] == "zones-9"


@pytest.mark.parametrize("tool", kit.modules()["codes"].FORBIDDEN_TOOLS)
def test_a_forbidden_tool_would_be_denied_by_the_world_too(desk: Session, tool: str) -> None:
    arguments = {
        "update_rows": {"rows": []}, "delete_rows": {"file_ids": []}, "set_status": {"file_id": "a", "status": "b"},
        "update_file": {"file_id": "a", "changes": {}}, "delete_file": {"file_id": "a"}, "write_log": {"entry": ""},
    }  # fmt: skip
    assert refused(desk, tool, **arguments[tool])[0] == "denied"
