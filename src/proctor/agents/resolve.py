"""From ``--agent`` to a command: ``builtin:NAME`` and ``cmd:COMMAND``. No shell is involved.

The candidate's digest covers what can be computed here: the command, and every file that it names. Anything else
that makes the agent what it is (a model's snapshot, a prompt's version) is attested by the user and listed as such.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.codec.canonical import digest_file, digest_json
from proctor.codec.models import nearest
from proctor.errors import UsageError
from proctor.suite.model import AgentEntry
from proctor.suite.plan import Candidate

__all__ = ["AgentCommand", "resolve_agent"]

_KINDS = "builtin:NAME or cmd:COMMAND"


@dataclass(frozen=True, kw_only=True)
class AgentCommand:
    """A command to start for every cycle: an argument list, the folder it runs in, and its environment."""

    argv: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    candidate: Candidate


def resolve_agent(text: str, *, shipped: Sequence[AgentEntry], shipped_folder: Path, folder: Path) -> AgentCommand:
    """The command that ``text`` names. ``folder`` is where a ``cmd:`` agent runs. Raises ``UsageError``."""
    kind, colon, rest = text.partition(":")
    if not colon or kind not in ("builtin", "cmd") or not rest.strip():
        raise UsageError("this names no agent", expected=_KINDS, found=text)
    if kind == "builtin":
        return _shipped(text, rest, shipped, shipped_folder)
    try:
        argv = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"the agent's command can't be split into words: {error}", found=rest) from None
    return _command(text, argv, folder)


def _shipped(text: str, name: str, shipped: Sequence[AgentEntry], folder: Path) -> AgentCommand:
    entry = next((agent for agent in shipped if agent.name == name), None)
    if entry is None:
        names = [agent.name for agent in shipped]
        guess = nearest(name, names)
        raise UsageError(
            f"the suite ships no agent {name!r}",
            expected=", ".join(names) or "no agent (it ships none): use cmd:COMMAND",
            fix=f"did you mean builtin:{guess}?" if guess else "proctor run SUITE --list-agents lists them",
        )
    argv = [sys.executable if word == "{python}" else word for word in entry.command]
    command = _command(text, argv, folder)
    return AgentCommand(
        argv=command.argv,
        folder=folder,
        environment=command.environment,
        candidate=Candidate(
            agent=text, digest=digest_json({"command": list(entry.command), "files": _digests(folder, folder)})
        ),
    )


def _command(text: str, argv: Sequence[str], folder: Path) -> AgentCommand:
    path = os.environ.get("PATH", os.defpath)
    program = argv[0]
    found = shutil.which(program, path=path) if os.sep not in program else str((folder / program).absolute())
    if found is None or not os.access(found, os.X_OK):
        raise UsageError(
            f"the agent's program {program!r} can't be run",
            expected="an executable file, or a program on the PATH",
            fix="check the spelling, or give its whole path",
        )
    named = {word: digest_file(folder / word) for word in argv[1:] if (folder / word).is_file()}
    digest = digest_json({"command": list(argv[1:]), "program": Path(program).name, "files": named})
    return AgentCommand(
        argv=(found, *argv[1:]),
        folder=folder,
        environment={"PATH": path, "LANG": "C.UTF-8", "TZ": "UTC"},
        candidate=Candidate(agent=text, digest=digest),
    )


def _digests(folder: Path, root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): digest_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
