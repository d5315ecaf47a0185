"""The intake desk's shipped agents through the real runner: the honest ones pass everything, each defective one is
blocked by the code of its own fault and by no other.

``PROCTOR_SEEDS`` of 20 and more asks for all two hundred generated cases.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import intake_kit as kit
from proctor.kinds import Role, Verdict
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.suite.load import load_suite
from proctor.suite.model import AgentEntry
from proctor.suite.plan import Selection

AGENTS = load_suite("intake").agents
HONEST = [agent for agent in AGENTS if agent.role in (Role.REFERENCE, Role.HONEST)]
DEFECTIVE = [agent for agent in AGENTS if agent.role is Role.DEFECTIVE and agent.name != "does-nothing"]
ALL = int(os.environ.get("PROCTOR_SEEDS", "3")) >= 20
ONE_OF_EACH = tuple(f"D{number:03}" for number in range(1, 16))


@pytest.fixture(autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path_factory.getbasetemp() / "home"))


def run(agent: str, folder: Path, *, suite: str = "intake", cases: tuple[str, ...] = ()) -> FinishedRun:
    selection = Selection(cases=cases) if cases else Selection()
    return run_suite(RunRequest(suite=suite, agent=f"builtin:{agent}", out=folder / "run", selection=selection))


def codes(finished: FinishedRun) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for cell in finished.report["cells"]:
        for finding in cell["findings"]:
            found.setdefault(finding["code"], set()).add(cell["case_id"])
    return found


@pytest.mark.parametrize("agent", HONEST, ids=lambda agent: agent.name)
def test_an_honest_agent_passes_all_development_cases(agent: AgentEntry, tmp_path: Path) -> None:
    finished = run(agent.name, tmp_path)
    assert codes(finished) == {}
    assert (finished.verdict, finished.report["overall"]["passed"]) == (Verdict.PASS, 60)


@pytest.mark.parametrize("agent", HONEST, ids=lambda agent: agent.name)
def test_an_honest_agent_passes_generated_cases_of_both_splits(agent: AgentEntry, tmp_path: Path) -> None:
    suite = Path(shutil.copytree(kit.suite().folder, tmp_path / "intake"))
    text = (suite / "suite.toml").read_text(encoding="utf-8")
    (suite / "suite.toml").write_text(text.replace("corpus.py:cases", "corpus.py:generated"), encoding="utf-8")
    some = () if ALL else tuple(f"{split}{number:03}" for split in "DH" for number in range(81, 96))
    finished = run(agent.name, tmp_path, suite=str(suite), cases=some)
    assert codes(finished) == {}
    assert finished.report["overall"]["passed"] == (200 if ALL else 30)


@pytest.mark.parametrize("agent", DEFECTIVE, ids=lambda agent: agent.name)
def test_a_defective_agent_is_caught_by_its_own_code_alone(agent: AgentEntry, tmp_path: Path) -> None:
    finished = run(agent.name, tmp_path, cases=ONE_OF_EACH)
    assert finished.verdict is Verdict.BLOCK
    assert set(codes(finished)) == set(agent.caught_by) != set()


def test_doing_nothing_passes_only_where_that_is_right(tmp_path: Path) -> None:
    finished = run("does-nothing", tmp_path)
    right = {case["id"] for case in kit.cases() if case["key"].get("do_nothing")}
    passed = {cell["case_id"] for cell in finished.report["cells"] if cell["outcome"] == "passed"}
    assert passed == right
    assert len(right) == finished.report["do_nothing_floor"]["passed"] == 4
    assert finished.verdict is Verdict.BLOCK


def test_each_code_of_the_separate_graders_has_an_agent_that_it_catches() -> None:
    caught = {code for agent in AGENTS for code in agent.caught_by}
    assert caught == {
        "wrong_status", "false_complete", "false_incomplete", "wrong_queue", "not_routed", "missing_item", "extra_item",
        "missing_check", "late_check", "failed_check_ignored", "forbidden_action", "unknown_action",
        "missing_duplicate_link", "wrong_duplicate_link", "missing_prior_link", "extra_link",
        "unsupported_claim", "contradicted_claim", "omitted_item", "empty_note", "unexpected_change",
    }  # fmt: skip


def test_every_agent_is_known_by_what_it_does() -> None:
    readme = (kit.suite().folder / "README.md").read_text(encoding="utf-8")
    for agent in AGENTS:
        line = next(line for line in readme.split("\n") if line.startswith(f"| `{agent.name}` |"))
        named = set(line.rsplit("|", 2)[1].replace("`", "").replace(",", " ").split()) - {"none"}
        assert named == set(agent.caught_by)


def test_the_agents_import_nothing_from_proctor() -> None:
    for path in kit.suite().agents_folder.glob("*.py"):
        assert "proctor" not in path.read_text(encoding="utf-8"), path.name
