"""What the pages on suites and agents say is what the program does; their examples are files that are run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from proctor.agents.protocol import ERROR_NUMBERS, PROTOCOL, EndReason
from proctor.grade.standard import STANDARD_GRADERS
from proctor.runner.run import RunRequest, run_suite
from proctor.suite.model import Budget, Case, CycleSpec, Event, Fault, SuiteSpec, User
from refund_kit import REFUND, copy_suite

DOCS = Path(__file__).parent.parent.parent / "docs"
SUITE_PAGE = (DOCS / "writing-a-suite.md").read_text(encoding="utf-8")
AGENT_PAGE = (DOCS / "writing-an-agent.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["suite.toml", "world.py", "grader.py", "cases.jsonl"])
def test_the_suite_on_the_page_is_the_one_that_is_tested(name: str) -> None:
    assert (REFUND / name).read_text(encoding="utf-8") in SUITE_PAGE


@pytest.mark.parametrize("name", ["agent.py", "agent.mjs"])
def test_the_agents_on_the_page_are_the_ones_that_are_tested(name: str) -> None:
    assert (DOCS / "examples" / name).read_text(encoding="utf-8") in AGENT_PAGE


@pytest.mark.parametrize(("program", "name"), [(sys.executable, "agent.py"), ("node", "agent.mjs")])
def test_the_example_agents_pass_the_refund_suite(tmp_path: Path, program: str, name: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed, so {name} can't be run")
    suite = copy_suite(tmp_path)
    fault = '"faults":[{"cycle":1,"tool":"get_order","nth":1,"phase":"before"}],"setup"'
    cases = (suite / "cases.jsonl").read_text(encoding="utf-8").replace('"setup"', fault)
    (suite / "cases.jsonl").write_text(cases, encoding="utf-8")
    agent = f"cmd:{program} {DOCS / 'examples' / name}"
    run = run_suite(RunRequest(suite=str(suite), agent=agent, runs=1, out=tmp_path / "run"))
    assert run.report["outcomes"] == {"passed": 2}, run.report["cells"]


@pytest.mark.parametrize("model", [SuiteSpec, Case, Budget, CycleSpec, User, Event, Fault])
def test_every_key_of_a_suite_is_on_the_page(model: type) -> None:
    missing = [name for name in model.__struct_encode_fields__ if f"`{name}`" not in SUITE_PAGE]  # type: ignore[attr-defined]
    shown = [name for name in missing if f'"{name}"' not in SUITE_PAGE and f"{name} = " not in SUITE_PAGE]
    assert shown == []


def test_every_grader_is_on_the_page() -> None:
    assert [name for name in STANDARD_GRADERS if f"| `{name}` |" not in SUITE_PAGE] == []


def test_every_error_and_every_end_is_on_the_page() -> None:
    assert f"`{PROTOCOL}`" in AGENT_PAGE
    codes = [code for code in ERROR_NUMBERS if code != "forbidden"]  # shown to agents as denied
    assert [code for code in codes if f"`{code}`" not in AGENT_PAGE] == []
    numbers = {str(number).replace("-", "−") for number in ERROR_NUMBERS.values()}
    assert [number for number in numbers if number not in AGENT_PAGE] == []
    ends = [end.value for end in EndReason if end not in (EndReason.FINISHED, EndReason.INJECTED_CRASH)]
    assert [end for end in ends if f"`{end}`" not in AGENT_PAGE] == []


@pytest.mark.parametrize("page", [SUITE_PAGE, AGENT_PAGE], ids=["suite", "agent"])
def test_links_lead_somewhere(page: str) -> None:
    import re

    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert links
    assert [link for link in links if not link.startswith("http") and not (DOCS / link).exists()] == []
