"""How an agent gets the answer without the work: fifteen ways that are known from elsewhere, A1 to A15.

Each has a test here, or stands in ``docs/threat-model.md`` as not claimed. All of them run at T2.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile_kit import KEY, loot_of, run_hostile, trace_of
from proctor.agents.resolve import resolve_agent
from proctor.errors import UsageError
from proctor.ledger.entries import AgentStart
from proctor.ledger.reader import read_log
from proctor.ledger.texts import TextReader
from proctor.runner.run import FinishedRun
from proctor.sandbox.confine import Confinement
from proctor.sandbox.tiers import isolate
from sandbox_kit import needs_t2

PROGRAMS = ["looks_around", "calls_hosts", "remembers", "touches_markers", "hides_calls"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("integrity")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        yield run_hostile(folder, "T2", PROGRAMS, runs=2)


def _forms(secret: str) -> list[bytes]:
    """A secret as it is, and in the forms that it could be hidden in."""
    plain = secret.encode()
    digests = [hashlib.new(name, plain).hexdigest().encode() for name in ("md5", "sha1", "sha256")]
    return [plain, base64.b64encode(plain), plain.hex().encode(), plain[::-1], json.dumps(secret).encode(), *digests]


@needs_t2
def test_a1_nothing_sent_to_the_agent_holds_the_answer_key(run: FinishedRun) -> None:
    texts = TextReader(run.folder / "texts")
    starts = [r.entry for r in read_log(run.folder / "ledger/workers/00") if isinstance(r.entry, AgentStart)]
    assert len(starts) == 14
    assert KEY in (run.folder / "cases.jsonl").read_text(), "there is a key to be found"
    for start in starts:
        said = texts.get(start.messageRef)
        assert KEY.encode() not in said
        for form in _forms(KEY):
            assert form not in said
        parameters = json.loads(said)["params"]
        assert set(parameters) == {"protocol", "task", "cycle", "cycles", "tools", "answer"}
        assert set(parameters["task"]) == {"case", "text", "policy", "input"}


@needs_t2
def test_a2_a7_a8_no_host_is_reached(run: FinishedRun) -> None:
    assert loot_of(run, "H-calls_hosts") == []


@needs_t2
def test_a4_a5_no_readable_file_is_one_of_the_suites(run: FinishedRun) -> None:
    suite = run.folder / "suite"
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in suite.rglob("*") if path.is_file()}
    seen = {thing.removeprefix("digest ") for thing in loot_of(run, "H-looks_around") if thing.startswith("digest ")}
    own = hashlib.sha256((run.folder.parents[1] / "agent" / "agent.py").read_bytes()).hexdigest()
    assert own in seen, "it can look: it finds its own file"
    assert not seen & digests


@needs_t2
def test_a9_no_way_into_the_supervisor_is_open(run: FinishedRun) -> None:
    isolation = json.loads((run.folder / "isolation.json").read_bytes())
    assert len(isolation["self_test"]) == 34
    assert not any(isolation["self_test"].values())


@needs_t2
def test_a10_no_grader_is_in_its_process(run: FinishedRun) -> None:
    assert not [thing for thing in loot_of(run, "H-looks_around") if thing.startswith("proctor")]
    with pytest.raises(UsageError, match="this names no agent"):
        resolve_agent("py:mine:agent", shipped=(), shipped_folder=Path(), folder=Path())
    agents = isolate("T0", Confinement(), memory_bytes=1 << 33, file_bytes=1 << 30)
    agents.close()
    assert agents.record.tier == "T1", "a suite that asks for less still gets a process of its own"


@needs_t2
def test_a11_a_cell_knows_nothing_of_the_one_before(run: FinishedRun) -> None:
    assert [loot_of(run, "H-remembers", number) for number in (1, 2)] == [[], []]


def test_a12_what_an_agent_ships_is_in_its_identity(tmp_path: Path) -> None:
    """Answers that came with it can't be told from skill; but the same result can't be shown for another agent."""
    program = tmp_path / "agent.py"
    found = []
    for text in ("ANSWERS = {}", "ANSWERS = {'R07': True}"):
        program.write_text(text)
        agent = resolve_agent(f"cmd:{sys.executable} agent.py", shipped=(), shipped_folder=tmp_path, folder=tmp_path)
        found.append(agent.candidate.digest)
    assert len(set(found)) == 2


@needs_t2
def test_a13_a_call_by_a_program_it_started_is_in_the_record(run: FinishedRun) -> None:
    (row,) = [row for row in trace_of(run, "H-hides_calls") if row["action"] == "delete_order"]
    assert (row["decision"], row["args"]) == ("forbidden", {"id": "A7"})
    cell = next(row for row in run.report["cells"] if row["case_id"] == "H-hides_calls")
    assert "forbidden_action" in cell["failures"]


@needs_t2
def test_a14_no_marker_switches_a_check_off(run: FinishedRun) -> None:
    cells = [row for row in run.report["cells"] if row["case_id"] == "H-touches_markers"]
    assert [(row["outcome"], row["failures"][0]) for row in cells] == [("failed", "missing_row")] * 2


@needs_t2
def test_a15_what_doing_nothing_would_score_stands_beside_the_score(run: FinishedRun) -> None:
    floor = run.report["do_nothing_floor"]
    assert (floor["passed"], floor["total"]) == (1, 7), "in R31 nothing is to be done"
    assert "Do-nothing floor" in (run.folder / "report.html").read_text()
