"""``proctor verify``, ``seal`` and ``keys`` as a person types them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli.main import cli

EXAMPLE = Path(__file__).parents[1] / "golden" / "example-run"


@pytest.fixture
def proctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Run a command in a folder of its own; exit code and output."""
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, arguments, standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return int(result.return_value or 0), result.output

    return run


def example_trust(proctor, path: Path) -> None:  # type: ignore[no-untyped-def]
    keys = json.loads((EXAMPLE / "keys.json").read_text())
    for name in ("log_vkey", "witness_vkey"):
        proctor("keys", "trust", keys[name], "--file", str(path))


def test_the_example_run_by_its_own_keys(proctor, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    example_trust(proctor, tmp_path / "trust.json")
    run = tmp_path / "example"
    shutil.copytree(EXAMPLE, run)
    code, out = proctor("verify", "--log-only", str(run), "--trust", str(tmp_path / "trust.json"))
    assert code == 0, out
    assert "integrity     intact" in out
    assert "witnessed by example.invalid/witness/w1" in out
    assert "278 canonical entries; what they mean was not looked at" in out
    assert "not part of the log, not checked: keys.json, results.json, run.intoto.json" in out
    path = run / "tile/entries/000"
    path.write_bytes(path.read_bytes().replace(b"t01#0", b"t09#0", 1))
    code, out = proctor("verify", "--log-only", str(run), "--trust", str(tmp_path / "trust.json"))
    assert code == 2
    assert "broken        tile/entries/000: entry 1: this is not the entry that was logged" in out


def test_without_a_trust_file_nothing_is_believed(proctor, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from proctor.errors import InputError

    with pytest.raises(InputError, match=r"no trust file to check by; expected keys that you believe; --trust FILE"):
        proctor("verify", str(tmp_path / "r"))
    (tmp_path / "t.json").write_text('{"keys":[{"role":"log","vkey":"a+b+c"}]}')
    with pytest.raises(InputError, match=r"t\.json: keys\[0\]\.vkey: not a verifier key"):
        proctor("verify", str(tmp_path), "--trust", str(tmp_path / "t.json"))
    (tmp_path / "t.json").write_text('{"keys":[],"quorom":1}')
    with pytest.raises(InputError, match=r"not a trust file; found Object contains unknown field `quorom`"):
        proctor("verify", str(tmp_path), "--trust", str(tmp_path / "t.json"))


def test_keys(proctor, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from proctor.errors import EvidenceError, UsageError

    with pytest.raises(UsageError, match="no signing key"):
        proctor("keys", "show")
    _, made = proctor("keys", "make", "--name", "acme.example/eval")
    vkey = made.splitlines()[0]
    assert vkey.startswith("acme.example/eval+")
    assert proctor("keys", "show") == (0, vkey + "\n")
    with pytest.raises(UsageError, match=r"has a signing key already; `proctor keys rotate`"):
        proctor("keys", "make")
    secret = tmp_path / "home/signing.key"
    assert secret.stat().st_mode & 0o777 == 0o600
    old = secret.read_text()
    _, rotated = proctor("keys", "rotate")
    new = rotated.splitlines()[0]
    assert new != vkey and new.startswith("acme.example/eval+")
    assert old != secret.read_text()
    trust = json.loads((tmp_path / "runs/trust.json").read_text())
    assert [(one["vkey"], one["validUntil"] is None) for one in trust["keys"]] == [(vkey, False), (new, True)]
    secret.chmod(0o644)
    with pytest.raises(EvidenceError, match=r"may be read by others; expected mode 0600; found mode 0644; `chmod 600"):
        proctor("keys", "show")
    secret.chmod(0o600)
    secret.write_text(secret.read_text().replace("A", "B", 1))
    from proctor.errors import InputError

    with pytest.raises(InputError, match="not a signing key"):
        proctor("keys", "show")


AGENT = """
import json, sys
start = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "finish", "params": {"answer": None}}), flush=True)
sys.stdin.readline()
"""
SUITE = {
    "suite.toml": 'name = "tiny"\nversion = "1"\ncases = "cases.jsonl"\nworld = "world.py"\nruns = 2\n'
    'graders = ["state"]\n[gate]\noverall = { rate = 0.5 }\n',
    "world.py": "from proctor import world\ndesk = world('CREATE TABLE t(a INT);', clock='2026-11-30T09:00:00Z')\n"
    '@desk.tool(reads="t")\ndef look(db) -> list:\n    "Look."\n    return db.all("SELECT * FROM t")\n',
    "cases.jsonl": '{"id":"A","slice":"s","task":"do nothing","setup":{"t":[{"a":1}]},"expect":{"t":[{"a":1}]}}\n',
}


def test_a_run_from_start_to_seal(proctor, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    suite = tmp_path / "tiny"
    suite.mkdir()
    for name, text in SUITE.items():
        (suite / name).write_text(text)
    (tmp_path / "agent.py").write_text(AGENT)
    agent = f"cmd:{sys.executable} {tmp_path / 'agent.py'}"
    for number in (1, 2):
        code, out = proctor("run", str(suite), "--agent", agent, "--out", f"runs/r{number}", "--quiet")
        assert code == 0, out
    code, out = proctor("verify", "runs/r2")
    assert code == 0, out
    assert "regrade       done" in out
    assert "run 2 of 2 for this plan (verdicts: PASS, PASS)" in out
    code, out = proctor("verify", "runs/r2", "--cell", "A/2", "--json")
    proof = json.loads(out)
    assert (code, proof["cell"], proof["outcome"]) == (0, "A/2", "passed")
    assert proof["grade"]["checkpoint"].startswith("proctor.local/")
    code, out = proctor("seal", "runs/r2", "--least-tier", "T1")
    assert (code, out.splitlines()[-1]) == (0, "run 2 of 2 for this plan")
    shutil.rmtree(tmp_path / "runs/r1")
    code, out = proctor("verify", "runs/r2", "--no-code")
    assert code == 0
    assert "sealed: the statement's signature" in out
    assert "gone from the workspace" in out
    report = tmp_path / "runs/r2/report.json"
    report.write_bytes(report.read_bytes().replace(b"PASS", b"PASs", 1))
    code, out = proctor("verify", "runs/r2", "--json")
    assert (code, json.loads(out)["integrity"]) == (2, "broken")
