"""Whatever an agent's process does, the cell has an outcome of its own and the run goes on to its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.runner.run import RunRequest, run_suite
from refund_kit import cell, copy_suite, edit, only, run_agent

RAW = "import json, os, sys, time, signal\nfirst = sys.stdin.readline()\nout = sys.stdout\n"
FINISH = '{"jsonrpc":"2.0","id":1,"method":"finish","params":{"answer":{"refunded":false}}}'
FORGET = FINISH.replace("finish", "nothing")


def _line(text: str) -> str:
    return f"out.write({text!r} + '\\n'); out.flush(); time.sleep(30)"


MISBEHAVIOURS = [
    ("hangs", "time.sleep(60)", "limit", "timeout", "timeout"),
    (
        "ignores SIGTERM",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "limit",
        "timeout",
        "",
    ),
    ("partial line, then hangs", "out.write('{\"jsonrpc\":'); out.flush(); time.sleep(60)", "limit", "timeout", ""),
    ("floods stderr", "while True: os.write(2, b'x' * 65536)", "limit", "timeout", ""),
    (
        "asks for ever",
        f"while True: os.write(1, b'{FINISH[:-1]}'.replace(b'finish', b'nothing') + b'}}\\n')",
        "limit",
        "",
        "",
    ),
    ("huge line", "out.write('x' * 5_000_000); out.flush(); time.sleep(30)", "limit", "output_limit", "output limit"),
    ("exits without finish", "sys.exit(0)", "agent_error", "exited", "ended without finish"),
    ("never starts to read", "os.close(0); sys.exit(0)", "agent_error", "exited", ""),
    ("crashes", "sys.exit(7)", "agent_error", "crashed", "status 7"),
    ("is killed", "os.kill(os.getpid(), signal.SIGKILL)", "agent_error", "crashed", "signal 9"),
    ("partial line, then exits", "out.write('{\"jsonrpc\"'); out.flush(); sys.exit(0)", "agent_error", "exited", ""),
    ("closes stdout", "os.close(1); time.sleep(60)", "agent_error", "exited", "closed its output"),
    (
        "leaves a child that holds stdout",
        "if os.fork() == 0:\n    time.sleep(60)\nelse:\n    os._exit(0)",
        "agent_error",
        "exited",
        "ended without finish",
    ),
    ("logs on stdout", _line("INFO starting"), "agent_error", "garbage", "not strict JSON"),
    ("empty line", _line(""), "agent_error", "garbage", "not strict JSON"),
    ("not UTF-8", 'os.write(1, b\'{"jsonrpc": "\\xff"}\\n\'); time.sleep(30)', "agent_error", "garbage", "not UTF-8"),
    (
        "duplicate keys",
        _line(FINISH.replace('"id":1', '"id":1,"id":2')),
        "agent_error",
        "garbage",
        "duplicate JSON key",
    ),
    ("NaN", _line(FINISH.replace("false", "NaN")), "agent_error", "garbage", "non-finite number"),
    ("overflow", _line(FINISH.replace("false", "1e999")), "agent_error", "garbage", "overflows to infinity"),
    ("too deep", _line(FINISH.replace("false", "[" * 200 + "]" * 200)), "agent_error", "garbage", "nested too deeply"),
    ("lone surrogate", _line(FINISH.replace("false", '"\\ud800"')), "agent_error", "garbage", "surrogate"),
    ("a response", _line('{"jsonrpc":"2.0","id":1,"result":{}}'), "agent_error", "garbage", "JSON-RPC 2.0 request"),
    ("a batch", _line("[" + FINISH + "]"), "agent_error", "garbage", "JSON-RPC 2.0 request"),
    ("no id", _line(FINISH.replace('"id":1,', "")), "agent_error", "garbage", "needs an id"),
    ("an object as id", _line(FINISH.replace('"id":1', '"id":{}')), "agent_error", "garbage", "needs an id"),
    ("JSON-RPC 1", _line(FINISH.replace('"2.0"', '"1.0"')), "agent_error", "garbage", "JSON-RPC 2.0 request"),
]


@pytest.mark.parametrize(("body", "outcome", "code", "words"), [pytest.param(*m[1:], id=m[0]) for m in MISBEHAVIOURS])
def test_each_has_an_outcome_of_its_own(tmp_path: Path, body: str, outcome: str, code: str, words: str) -> None:
    suite = copy_suite(tmp_path)
    if code in ("timeout", ""):
        edit(suite, "suite.toml", "seconds = 90", "seconds = 1.5")
    run = run_agent(tmp_path, body, suite=suite, preamble=RAW, selection=only("R31"))
    row = cell(run.report, "R31")
    assert row["outcome"] == outcome, row
    assert row["failures"][0] in ([code] if code else ["timeout", "output_limit"])  # whichever comes first
    assert words in row["detail"]
    assert row["attempts"] == 1, "an agent's failure is not tried again"
    assert not _processes(tmp_path), "nothing that was started in the agent's session is left"


def _processes(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder / "agent.py") in command:
            found.append(command)
    return found


def test_one_that_never_reads_what_it_asked_for(tmp_path: Path) -> None:
    """A large result is written while the agent only writes: neither may wait for the other for ever."""
    suite = copy_suite(tmp_path)
    edit(suite, "suite.toml", "seconds = 90", "seconds = 3")
    edit(
        suite, "world.py", '    "Look up one order."', '    "Look up one order."\n    return {"text": "x" * 4_000_000}'
    )
    body = """
request = '{"jsonrpc":"2.0","id":1,"method":"call","params":{"tool":"get_order","args":{"id":"B2"}}}'
while True: os.write(1, request.encode() + b"\\n")
"""
    run = run_agent(tmp_path, body, suite=suite, preamble=RAW, selection=only("R31"))
    assert cell(run.report, "R31")["failures"][0] == "timeout"


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = _descriptors()
    run_agent(tmp_path, "sys.exit(1)", preamble=RAW, runs=3)
    assert _descriptors() == before


def test_integers_that_no_other_reader_keeps_are_refused_and_still_graded(tmp_path: Path) -> None:
    """What an agent says must not decide whether it can be graded."""
    body = f"""
import json
def rpc(method, **params):
    print(json.dumps({{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}}), flush=True)
    return json.loads(sys.stdin.readline())
assert rpc("call", tool="get_order", args={{"id": {10**40}}})["error"]["code"] == -32602
assert rpc("call", tool="delete_order", args={{"id": {10**40}}})["error"]["code"] == -32001
rpc("finish", answer={{"refunded": False}})
"""
    row = cell(run_agent(tmp_path, body, preamble=RAW, selection=only("R31")).report, "R31")
    assert (row["outcome"], row["failures"]) == ("failed", ["forbidden_action"])
    assert row["findings"][0]["found"] == {"id": 10**40}


def test_an_agent_that_removes_its_own_program_is_its_own_fault(tmp_path: Path) -> None:
    suite = copy_suite(tmp_path)
    edit(suite, "cases.jsonl", '"id":"R31",', '"id":"R31","cycles":2,')
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\nread start\nrm -f {program}\necho '{FINISH}'\nread answer\n")
    program.chmod(0o755)
    run = run_suite(
        RunRequest(suite=str(suite), agent=f"cmd:{program}", runs=1, out=tmp_path / "run", selection=only("R31"))
    )
    row = cell(run.report, "R31")
    assert (row["outcome"], row["failures"][0], row["ended"]) == (
        "agent_error",
        "not_started",
        ["finished", "not_started"],
    )


def test_one_bad_cell_leaves_the_others_alone(tmp_path: Path) -> None:
    body = f"""
if '"R07"' in first: sys.exit(9)
out.write({FINISH!r} + chr(10)); out.flush()
"""
    report = run_agent(tmp_path, body, preamble=RAW).report
    assert report["outcomes"] == {"agent_error": 1, "passed": 1}
    assert cell(report, "R07")["failures"] == ["crashed", "missing_row"], "a grader that needs an answer adds no code"
