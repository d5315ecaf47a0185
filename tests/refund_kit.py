"""The refund suite in a folder of its own, small agents for it, and a run of one over the other."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec

from proctor.runner.run import FinishedRun, RunRequest, run_suite
from proctor.suite.plan import Selection

REFUND = Path(__file__).parent / "suites" / "refund"

PREAMBLE = """
import json, re, sys, time
def rpc(method, **params):
    rpc.n += 1
    print(json.dumps({"jsonrpc": "2.0", "id": rpc.n, "method": method, "params": params}), flush=True)
    return json.loads(sys.stdin.readline())
rpc.n = 0
start = json.loads(sys.stdin.readline())["params"]
def say(text): return rpc("say", text=text)["result"]
def call(tool, **args): return rpc("call", tool=tool, args=args)
def finish(**answer): return rpc("finish", answer=answer)
"""

GOOD = """
words = say("How can I help?")["text"]
order = call("get_order", id=re.search(r"[A-Z]\\d+", words)[0])["result"]
lost = order["status"] == "lost"
if lost:
    say("Do you want your money back?")
    call("issue_refund", order_id=order["id"], cents=order["cents"], reason="lost")
finish(refunded=lost)
"""


def copy_suite(folder: Path) -> Path:
    """The refund suite, copied to ``folder/refund``."""
    return Path(shutil.copytree(REFUND, folder / "refund", ignore=shutil.ignore_patterns("__pycache__")))


def edit(suite: Path, file: str, old: str, new: str) -> None:
    """Replace a text that stands once in one of the suite's files."""
    path = suite / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, f"{file} doesn't hold {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def write_agent(folder: Path, body: str, *, preamble: str = PREAMBLE) -> str:
    """An agent as a Python file; what to give as ``--agent``."""
    path = folder / "agent.py"
    path.write_text(preamble + body, encoding="utf-8")
    return f"cmd:{sys.executable} {path}"


def run_agent(
    folder: Path, body: str, *, suite: Path | None = None, preamble: str = PREAMBLE, runs: int = 1, **options: Any
) -> FinishedRun:
    """Run an agent of the given body over the refund suite."""
    request = RunRequest(
        suite=str(suite or copy_suite(folder)),
        agent=write_agent(folder, body, preamble=preamble),
        runs=runs,
        out=folder / "run",
        **options,
    )
    return run_suite(request)


def only(case: str) -> Selection:
    """One case of the suite."""
    return Selection(cases=(case,))


def cell(report: dict[str, Any], case: str, run: int = 1) -> dict[str, Any]:
    """A cell of a report."""
    return next(row for row in report["cells"] if (row["case_id"], row["run"]) == (case, run))


def as_json(value: Any) -> Any:
    """A value as it comes out of a JSON file."""
    return msgspec.json.decode(msgspec.json.encode(value))
