"""What this machine offers: isolation tiers tried out, programs that are missing, packages, key, workspace.

Every line comes from trying, not from asking what ought to be there. Left out: mending anything.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from enum import StrEnum
from importlib import metadata
from pathlib import Path

import msgspec

from proctor._version import __version__
from proctor.agents.stdio import AgentLimits
from proctor.errors import IsolationError, ProctorError
from proctor.ledger.keys import KEY_FILE, home_folder, load_signer
from proctor.ledger.trust import TRUST_NAME, load_trust
from proctor.ledger.workspace import missing_runs, read_workspace
from proctor.sandbox.confine import Confinement, missing_parts
from proctor.sandbox.tiers import TIERS, isolate

__all__ = ["Check", "Machine", "State", "examine"]

_PACKAGES = ("click", "cryptography", "duckdb", "jinja2", "jiter", "msgspec", "numpy", "rfc8785", "rich", "scipy")
_HIGHEST = "T2"
_NOT_EXTRAS = frozenset({"build", "dev"})


class State(StrEnum):
    """``ok``, ``absent`` (can be done without), or ``broken`` (must be mended)."""

    OK = "ok"
    ABSENT = "absent"
    BROKEN = "broken"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at; ``fix`` is how to get it or mend it."""

    name: str
    state: State
    found: str
    fix: str | None = None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """All that was looked at, in order."""

    proctor: str
    python: str
    platform: str
    checks: tuple[Check, ...]

    @property
    def is_fit(self) -> bool:
        """Whether nothing is broken."""
        return all(check.state is not State.BROKEN for check in self.checks)


def examine(workspace: Path, environ: Mapping[str, str]) -> Machine:
    """Look at everything."""
    return Machine(
        proctor=__version__,
        python=f"{platform.python_version()} ({sys.executable})",
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        checks=(*map(_tier, TIERS), *_packages(), *_extras(), _key(environ), *_workspace(workspace)),
    )


def _tier(name: str) -> Check:
    """Whether a tier can be had here, tried out as a run would."""
    limits, title = AgentLimits(), f"tier {name}"
    if name == "T0":
        return Check(name=title, state=State.ABSENT, found="no agent runs in Proctor's own process in this version")
    confinement = Confinement(environment={"PATH": "/usr/bin:/bin"})
    try:
        tier = next(tier for tier in TIERS if tier == name)
        agents = isolate(tier, confinement, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes)
    except IsolationError as error:
        if name != "T2":
            return Check(name=title, state=State.ABSENT, found=f"this version makes {_HIGHEST} at most")
        parts = missing_parts()
        found = "; ".join(parts) or error.found or error.problem
        return Check(name=title, state=State.ABSENT, found=found, fix=None if parts else error.fix)
    agents.close()
    record = agents.record
    found = record.claim
    if tried := record.summary()["self_test"]:
        blocked = f"{tried['blocked']} of {tried['attempted']} escape attempts blocked"
        found = f"{blocked}, agents as {record.runs_as}; {record.claim}"
    return Check(name=title, state=State.OK, found=found)


def _packages() -> list[Check]:
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    checks = [Check(name="packages", state=State.OK, found=", ".join(found))] if found else []
    if missing:
        fix = "install Proctor again: pip install proctor"
        checks.append(Check(name="packages", state=State.BROKEN, found=f"missing: {', '.join(missing)}", fix=fix))
    return checks


def _extras() -> list[Check]:
    """Optional parts that this version names, and whether what they need is here."""
    try:
        about = metadata.metadata("proctor")
        required = metadata.requires("proctor") or []
    except metadata.PackageNotFoundError:
        return [Check(name="extras", state=State.ABSENT, found="unknown: Proctor runs from a folder, not installed")]
    checks = []
    for extra in sorted(set(about.get_all("Provides-Extra") or []) - _NOT_EXTRAS):
        mark = f'extra == "{extra}"'
        names = [line.split(";")[0].strip() for line in required if mark in line.replace("'", '"')]
        missing = [name for name in names if not _is_installed(name)]
        state = State.ABSENT if missing else State.OK
        found = f"missing: {', '.join(missing)}" if missing else ", ".join(names)
        fix = f"pip install 'proctor[{extra}]'" if missing else None
        checks.append(Check(name=f"extra {extra}", state=state, found=found, fix=fix))
    return checks


def _is_installed(requirement: str) -> bool:
    name = requirement
    for mark in " <>=!~[(":
        name = name.split(mark)[0]
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _key(environ: Mapping[str, str]) -> Check:
    home = home_folder(environ)
    try:
        signer = load_signer(home)
    except ProctorError as error:
        return Check(name="signing key", state=State.BROKEN, found=error.problem, fix=error.fix)
    if signer is None:
        found = f"none in {home}; the first run makes one"
        return Check(name="signing key", state=State.ABSENT, found=found, fix="proctor keys make --name NAME")
    return Check(name="signing key", state=State.OK, found=f"{signer.name} in {home / KEY_FILE}")


def _workspace(workspace: Path) -> list[Check]:
    title = f"workspace {workspace}"
    if not workspace.is_dir():
        return [Check(name=title, state=State.ABSENT, found="not there; the first run makes it")]
    try:
        trust = load_trust(workspace / TRUST_NAME) if (workspace / TRUST_NAME).exists() else None
        runs = read_workspace(workspace)
        gone = missing_runs(workspace, runs)
    except ProctorError as error:
        return [Check(name=title, state=State.BROKEN, found=error.message, fix=error.fix)]
    believed = "no trust.json" if trust is None else f"{len(trust.keys)} believed keys"
    closed = sum(run.root is not None for run in runs.values())
    checks = [Check(name=title, state=State.OK, found=f"{len(runs)} runs, {closed} closed; {believed}")]
    if gone:
        found = f"{len(gone)} runs that its log knows are gone: {', '.join(gone[:3])}"
        checks.append(Check(name=title, state=State.ABSENT, found=found))
    return checks
