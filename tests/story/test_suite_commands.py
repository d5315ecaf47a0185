"""Making a suite, showing it, and making a case from a recorded run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from proctor.checking.check import check_suite
from proctor.cli.suite import suite
from proctor.errors import UsageError
from proctor.kinds import Verdict
from proctor.runner.run import RunRequest, run_suite
from refund_kit import GOOD, copy_suite, run_agent


def _call(*arguments: str) -> Result:
    return CliRunner().invoke(suite, list(arguments), standalone_mode=False, catch_exceptions=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite that ``suite new`` has just made."""
    folder = tmp_path_factory.mktemp("new")
    assert _call("new", "rooms", "--into", str(folder)).return_value == 0
    return folder / "rooms"


def test_a_new_suite_has_no_mistake_and_no_warning(made: Path) -> None:
    found = check_suite(made)
    assert [m.text for m in found.mistakes] == []
    assert found.floor is not None
    assert (found.floor.passed, found.floor.total) == (1, 3)


@pytest.mark.parametrize(("agent", "verdict"), [("good", Verdict.PASS), ("nothing", Verdict.BLOCK)])
def test_a_new_suite_runs_and_tells_its_agents_apart(made: Path, tmp_path: Path, agent: str, verdict: Verdict) -> None:
    run = run_suite(RunRequest(suite=str(made), agent=f"builtin:{agent}", runs=1, out=tmp_path / "run"))
    assert run.verdict is verdict, run.report["reasons"]


def test_nothing_is_overwritten(made: Path) -> None:
    with pytest.raises(UsageError, match="something of this name already"):
        _call("new", "rooms", "--into", str(made.parent))
    with pytest.raises(UsageError, match="can't have this name"):
        _call("new", "Rooms!", "--into", str(made.parent))


def test_show_names_tools_cases_rules_and_agents(made: Path) -> None:
    text = _call("show", str(made)).output
    assert "  book(room_id, day, who)  reads rooms · writes bookings" in text
    assert "  cancel_all()  writes bookings · offered only to be refused" in text
    assert "3 cases in 3 groups × 2 runs = 6 cells" in text
    assert "  rate ≥ 0.9\n" in text
    assert "  builtin:good  reference  books the smallest free room" in text
    tools = msgspec.json.decode(_call("show", str(made), "--tools").stdout)
    assert [tool["name"] for tool in tools] == ["free_rooms", "book", "cancel_all"]


def test_a_case_from_a_recorded_run_passes_for_the_agent_that_made_it(tmp_path: Path) -> None:
    folder = copy_suite(tmp_path)
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    recorded = run_agent(tmp_path / "first", GOOD, suite=folder)
    row = msgspec.json.decode(_call("add-case", "--from", str(recorded.folder), "R07/1").stdout)
    assert row == {
        "id": "R07-r1",
        "slice": "late",
        "group": "cust-3",
        "user": ["A7 never came", "Yes, money back"],
        "setup": {"orders": [{"id": "A7", "cents": 4200, "status": "lost"}]},
        "expect": {"refunds": [{"order_id": "A7", "cents": 4200, "reason": "lost"}]},
        "answer": {"refunded": True},
    }
    said = _call("add-case", "--from", str(recorded.folder), "R31", "--id", "R99", "--to", str(folder)).output
    assert "added R99 as line 3" in said
    assert msgspec.json.decode((folder / "cases.jsonl").read_bytes().splitlines()[2])["expect"] == {}
    again = run_agent(tmp_path / "second", GOOD, suite=folder)
    assert again.report["outcomes"] == {"passed": 3}


def test_a_case_needs_a_cell_that_was_run_and_an_id_of_its_own(tmp_path: Path) -> None:
    folder = copy_suite(tmp_path)
    recorded = run_agent(tmp_path, GOOD, suite=folder)
    with pytest.raises(UsageError, match="the run has no cell R07/9"):
        _call("add-case", "--from", str(recorded.folder), "R07/9")
    with pytest.raises(UsageError, match="has a case R31 already"):
        _call("add-case", "--from", str(recorded.folder), "R07", "--id", "R31", "--to", str(folder))
