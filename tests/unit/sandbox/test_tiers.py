"""Tier T2 is tried out in the very sandbox before it is used: it holds as root and as an ordinary user, and one with a
hole is found."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from proctor.errors import IsolationError
from proctor.sandbox import confine
from proctor.sandbox.confine import Confinement, Sandbox
from proctor.sandbox.launcher import Launcher
from proctor.sandbox.selftest import AGENT_FOLDER, SelfTestResult, Surroundings, run_self_test
from proctor.sandbox.tiers import isolate, isolation_file, isolation_files, stricter
from sandbox_kit import NOBODY, as_user, needs_t2

GIB = 1024**3
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@needs_t2
def test_t2_holds_here_and_its_record_says_so() -> None:
    agents = isolate("T2", Confinement(environment=ENVIRONMENT), memory_bytes=8 * GIB, file_bytes=GIB)
    agents.close()
    record = agents.record
    assert (record.demanded, record.tier, record.network) == ("T2", "T2", False)
    assert record.self_test is not None and len(record.self_test) == 34
    assert not any(record.self_test.values())
    assert record.allowed is not None and record.observed is not None
    assert record.observed.outside(record.allowed) == []
    assert record.observed.mounts[AGENT_FOLDER] == "ro"
    assert record.observed.descriptors == ()
    assert record.summary()["self_test"] == {"attempted": 34, "blocked": 34}


@needs_t2
def test_t2_holds_for_an_ordinary_user() -> None:
    done = as_user(f"""
from proctor.sandbox.confine import Confinement
from proctor.sandbox.tiers import isolate
import msgspec, sys
agents = isolate("T2", Confinement(environment={ENVIRONMENT}), memory_bytes={8 * GIB}, file_bytes={GIB})
agents.close()
sys.stdout.write(msgspec.json.encode(agents.record).decode())
""")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert len(record["self_test"]) == 34 and not any(record["self_test"].values())
    assert record["observed"]["user"] == NOBODY
    assert record["runs_as"] == f"uid {NOBODY} in a namespace of its own"


HOLES = [
    ("a network", {"network": True}, {"connect_tcp", "make_udp_socket"}),
    ("the temporary folder", {"readable": (Path(tempfile.gettempdir()),)}, {"read_answer_key", "list_run_folder"}),
    ("no ceiling on memory", {"data_bytes": 4 * GIB}, {"allocate_gigabyte"}),
    ("no ceiling on processes", {"processes": 4096}, {"start_hundred_processes"}),
    ("no ceiling on files", {"file_bytes": GIB, "tmp_bytes": GIB}, {"write_large_file", "fill_memory_by_files"}),
]


@needs_t2
@pytest.mark.parametrize(("options", "found"), [pytest.param(*hole[1:], id=hole[0]) for hole in HOLES])
def test_a_confinement_with_a_hole_is_refused(options: dict[str, object], found: set[str]) -> None:
    confinement = Confinement(environment=ENVIRONMENT, **options)  # type: ignore[arg-type]
    with pytest.raises(IsolationError) as caught:
        isolate("T2", confinement, memory_bytes=8 * GIB, file_bytes=GIB)
    assert caught.value.code == "tier_unmet"
    assert "isolation tier T2 does not hold on this machine" in caught.value.message
    for name in found:
        assert name in (caught.value.found or "")


def _try(change: Callable[[list[str]], list[str]]) -> SelfTestResult:
    """The self-test in a sandbox whose command was changed."""
    sandbox = Sandbox(Confinement(environment=ENVIRONMENT))

    def wrap(argv: Sequence[str], folder: Path) -> tuple[list[str], dict[int, int]]:
        command, inherited = sandbox.wrap(argv, folder)
        return change(command), inherited

    try:
        with Launcher() as launcher:
            return run_self_test(launcher, wrap)
    finally:
        sandbox.close()


def _without(command: list[str], *words: str) -> list[str]:
    start = next(i for i in range(len(command)) if command[i : i + len(words)] == list(words))
    return command[:start] + command[start + len(words) :]


@needs_t2
def test_a_part_that_is_left_out_is_missed() -> None:
    no_filter = _try(lambda command: _without(command, "--seccomp", "100"))
    assert "use_keyring" in no_filter.open
    assert 100 in no_filter.observed.descriptors, "a descriptor that was handed down is seen"
    no_pids = _try(lambda command: _without(command, "--unshare-pid"))
    assert {"see_supervisor_process", "read_supervisor_command_line"} <= set(no_pids.open)


@needs_t2
def test_what_is_seen_and_was_not_allowed_is_named() -> None:
    def change(command: list[str]) -> list[str]:
        at = next(i for i in range(len(command)) if command[i : i + 2] == ["--remount-ro", "/"])
        return [*command[:at], "--setenv", "API_KEY", "x", "--bind", "/var/tmp", "/mnt", *command[at:]]

    result = _try(change)
    sandbox = Sandbox(Confinement(environment=ENVIRONMENT))
    allowed = Surroundings(
        mounts=sandbox.mounts(sys.executable, Path(AGENT_FOLDER)),
        environment=sandbox.environment_names,
        interfaces=("lo",),
        user=sandbox.uid,
        descriptors=(),
    )
    sandbox.close()
    assert result.observed.outside(allowed) == ["mount /mnt", "environment variable API_KEY"]


def test_surroundings_are_held_to_what_is_allowed() -> None:
    allowed = Surroundings(
        mounts={"/": "ro", "/usr": "ro", "/tmp": "rw"}, environment=("PATH",), interfaces=(), user=1, descriptors=()
    )
    same = Surroundings(mounts={"/": "ro", "/usr/share": "ro", "/tmp": "rw"}, environment=(), interfaces=(), user=1,
                        descriptors=())  # fmt: skip
    assert same.outside(allowed) == []
    other = Surroundings(
        mounts={"/": "rw", "/usr/lib": "rw", "/home": "ro"},
        environment=("SECRET",),
        interfaces=("eth0",),
        user=0,
        descriptors=(7,),
    )
    assert other.outside(allowed) == [
        "mount / may be written",
        "mount /usr/lib may be written",
        "mount /home",
        "environment variable SECRET",
        "network interface eth0",
        "descriptor 7",
        "user 0",
    ]


def test_without_its_parts_t2_is_refused_and_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    which = confine.shutil.which
    monkeypatch.setattr(confine.shutil, "which", lambda name: None if name == "bwrap" else which(name))
    with pytest.raises(IsolationError) as caught:
        isolate("T2", Confinement(), memory_bytes=GIB, file_bytes=GIB)
    assert "isolation tier T2 can't be had here" in caught.value.message
    assert "bwrap is not installed (on Debian: apt-get install bubblewrap)" in caught.value.message


def test_a_tier_above_the_highest_is_refused() -> None:
    with pytest.raises(IsolationError, match="isolation tier T3 is demanded; expected T3; found T2, the highest"):
        isolate("T3", Confinement(), memory_bytes=GIB, file_bytes=GIB)


def test_t1_claims_no_more_than_it_holds() -> None:
    agents = isolate("T1", Confinement(), memory_bytes=8 * GIB, file_bytes=GIB)
    agents.close()
    assert agents.record.claim.startswith("protects against accidents only")
    assert (agents.record.network, agents.record.self_test) == (True, None)
    assert agents.record.summary()["self_test"] is None


def test_the_stricter_tier_holds() -> None:
    assert [stricter("T1", None), stricter("T1", "T2"), stricter("T2", "T1")] == ["T1", "T2", "T2"]


def test_a_file_for_every_isolation_that_was_found_otherwise() -> None:
    assert [isolation_file(0), isolation_file(2)] == ["isolation.json", "isolation.2.json"]
    assert isolation_files(["a", "a", "b", "a"]) == {"a": "isolation.json", "b": "isolation.2.json"}


@needs_t2
def test_the_command_binds_only_what_is_meant(tmp_path: Path) -> None:
    agent, inside = tmp_path / "agent", tmp_path / "agent" / "keys"
    inside.mkdir(parents=True)
    sandbox = Sandbox(Confinement(environment={"PATH": "/bin", "ONLY": "this"}, hidden=(inside, tmp_path / "suite")))
    command, inherited = sandbox.wrap(["/usr/bin/env", "x"], agent)
    sandbox.close()
    assert list(inherited) == [100]
    assert command[-2:] == ["/usr/bin/env", "x"]
    text = " ".join(command)
    assert f"--ro-bind {agent} {agent}" in text
    assert f"--size 4096 --tmpfs {inside} --remount-ro {inside}" in text, (
        "a hidden folder inside a readable one is covered"
    )
    assert str(tmp_path / "suite") not in text, "one outside is not even named"
    assert "--setenv ONLY this" in text and "--clearenv" in text and "--unshare-net" in text
    assert "--remount-ro / " in text
    for limit in ("--data=805306368", "--fsize=41943040", "--nproc=64", "--nofile=256", "--core=0"):
        assert limit in command
    assert "--no-new-privs" in command


def test_every_attempt_is_in_the_threat_model() -> None:
    root = Path(__file__).parents[3]
    names = (root / "src/proctor/sandbox/probe.py").read_text().partition("ATTEMPTS = (")[2].partition(")")[0]
    attempts = {name.strip() for name in names.split(",") if name.strip()}
    page = (root / "docs" / "threat-model.md").read_text()
    rows = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and line.endswith("| – | – |")}
    assert len(attempts) == 34
    assert rows == attempts, "what is tried and what the page says was tried"
