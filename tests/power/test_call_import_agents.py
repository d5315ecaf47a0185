"""Every shipped agent through the real runner: the honest ones pass, each defective one is blocked for its own fault.

Three seeds by default; ``PROCTOR_SEEDS`` asks for more.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import call_import_kit as kit
from proctor.kinds import Role, Verdict
from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.suite.model import AgentEntry

SEEDS = range(1, int(os.environ.get("PROCTOR_SEEDS", "3")) + 1)
AGENTS = kit.suite().agents
HONEST = [agent for agent in AGENTS if agent.role in (Role.REFERENCE, Role.HONEST)]
DEFECTIVE = [agent for agent in AGENTS if agent.role is Role.DEFECTIVE]
PERFECT = {
    "completeness", "precision", "uniqueness", "field_accuracy", "order_correctness", "recovery", "error_honesty",
    "cycle_stability", "Perf_shadow",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path_factory.getbasetemp() / "home"))


def run(agent: str, seed: int, folder: Path) -> FinishedRun:
    return run_suite(RunRequest(suite="call-import", agent=f"builtin:{agent}", seed=seed, out=folder / "run"))


def codes(report: dict[str, Any]) -> set[str]:
    return {finding["code"].removeprefix("call-import.") for cell in report["cells"] for finding in cell["findings"]}


def final_register(finished: FinishedRun) -> list[dict[str, Any]]:
    after = finished.report["cells"][0]["states"]["after"]
    with sqlite3.connect(finished.folder / "states" / f"{after}.sqlite") as connection:
        cursor = connection.execute("SELECT * FROM register ORDER BY position")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor]
    connection.close()
    return [{name: value for name, value in row.items() if name not in ("position", "cycle")} for row in rows]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("agent", HONEST, ids=lambda agent: agent.name)
def test_an_honest_agent_passes(agent: AgentEntry, seed: int, tmp_path: Path) -> None:
    finished = run(agent.name, seed, tmp_path)
    assert codes(finished.report) == set()
    assert finished.verdict is Verdict.PASS
    assert finished.report["metrics"] == dict.fromkeys(PERFECT, 1.0)
    assert finished.report["scorer_pass"] is True
    assert finished.report["pilot_pass"] is None
    assert final_register(finished) == list(kit.case(seed).expect["register"])
    trace = (finished.folder / "traces" / f"corpus-{seed}.1.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    struck = [row for row in map(json.loads, trace) if row["fault"]]
    assert len(struck) == len(kit.case(seed).faults), "every scheduled fault fired"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("agent", DEFECTIVE, ids=lambda agent: agent.name)
def test_a_defective_agent_is_blocked_for_its_own_fault(agent: AgentEntry, seed: int, tmp_path: Path) -> None:
    finished = run(agent.name, seed, tmp_path)
    assert finished.verdict is Verdict.BLOCK
    assert agent.caught_by
    assert set(agent.caught_by) <= codes(finished.report)
    assert finished.report["cells"][0]["outcome"] == "failed"


def test_every_agent_is_known_by_what_it_does() -> None:
    assert len({agent.name for agent in AGENTS}) == len(AGENTS)
    readme = (kit.suite().folder / "README.md").read_text(encoding="utf-8")
    for agent in AGENTS:
        assert f"| `{agent.name}` |" in readme
        line = next(line for line in readme.split("\n") if line.startswith(f"| `{agent.name}` |"))
        named = set(line.rsplit("|", 2)[1].replace("`", "").replace(",", " ").split()) - {"none"}
        assert named == set(agent.caught_by)


def test_the_agents_import_nothing_from_proctor() -> None:
    for path in kit.suite().agents_folder.glob("*.py"):
        assert "proctor" not in path.read_text(encoding="utf-8").replace("proctor.agent/1", ""), path.name
