"""``proctor doctor`` says what can be had on this machine, and how to get what can't."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli.main import cli
from proctor.ledger.keys import make_signer
from proctor.sandbox import confine
from sandbox_kit import needs_t2


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def _doctor(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["doctor", *arguments], standalone_mode=False, catch_exceptions=False)
    return done.return_value, done.stdout


@needs_t2
def test_tiers_are_tried_out(home: Path, tmp_path: Path) -> None:
    code, said = _doctor("--json", "--workspace", str(tmp_path / "runs"))
    checks = {check["name"]: check for check in json.loads(said)["checks"]}
    assert code == 0
    assert {name: checks[f"tier {name}"]["state"] for name in ("T0", "T1", "T2", "T3", "T4")} == {
        "T0": "absent",
        "T1": "ok",
        "T2": "ok",
        "T3": "absent",
        "T4": "absent",
    }
    assert checks["tier T2"]["found"].startswith("34 of 34 escape attempts blocked, agents as ")
    assert checks["tier T3"]["found"] == "this version makes T2 at most"
    assert "msgspec" in checks["packages"]["found"]
    assert checks["signing key"]["fix"] == "proctor keys make --name NAME"
    assert checks[f"workspace {tmp_path / 'runs'}"]["found"] == "not there; the first run makes it"


def test_a_missing_part_comes_with_the_command_that_gets_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = confine.shutil.which
    monkeypatch.setattr(confine.shutil, "which", lambda name: None if name == "bwrap" else which(name))
    code, said = _doctor("--workspace", str(tmp_path))
    assert code == 0, "a tier that can't be had breaks nothing until it is demanded"
    line = next(line for line in said.splitlines() if line.startswith("tier T2"))
    assert line.split()[2] == "no"
    assert "bwrap is not installed (on Debian: apt-get install bubblewrap)" in line


def test_a_key_that_others_can_read_is_broken(home: Path, tmp_path: Path) -> None:
    make_signer(home)
    (home / "signing.key").chmod(0o644)
    code, said = _doctor("--workspace", str(tmp_path))
    assert code == 2
    assert "BROKEN" in said and "the signing key may be read by others" in said and "chmod 600" in said
