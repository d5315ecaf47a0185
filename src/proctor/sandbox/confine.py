"""Tier T2: how an agent's command is wrapped so that it sees its own files, a small /tmp and nothing else.

Made of bubblewrap (namespaces and a file system with only what is bound), a seccomp filter, resource limits, and under
root another user. Everything is a C program of the system, so a start costs milliseconds. Left out: checking that it
holds here (``sandbox.selftest``).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from proctor.errors import IsolationError
from proctor.sandbox.seccomp import build_filter

__all__ = ["Confinement", "Sandbox", "missing_parts"]

_NOBODY = 65534
_PARTS = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux"}
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/certs", "mime.types")
_HOME = "/tmp"  # noqa: S108 - the sandbox's own, not the machine's
_SHARED = "/dev/shm"  # noqa: S108
_SHARED_MEMORY_BYTES = 1024**2
_FILTER_NUMBER = 100
"""The descriptor that bubblewrap reads the filter from."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What an agent may see and use. ``hidden`` folders are covered even where they lie inside a readable one.

    ``processes`` counts those of the agent's user within its namespace (Linux 5.14 or newer).
    """

    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: bool = False
    tmp_bytes: int = 48 * 1024**2
    data_bytes: int = 768 * 1024**2
    file_bytes: int = 40 * 1024**2
    processes: int = 64
    open_files: int = 256
    environment: Mapping[str, str] = field(default_factory=dict)


def missing_parts() -> list[str]:
    """What is not on this machine that T2 needs, each as a sentence with the way to get it."""
    if not sys.platform.startswith("linux"):
        return [f"T2 needs Linux; this is {sys.platform}"]
    missing = [
        f"{program} is not installed (on Debian: apt-get install {package})"
        for program, package in _PARTS.items()
        if shutil.which(program) is None
    ]
    if build_filter(network=False) is None:
        missing.append(f"no seccomp filter for {os.uname().machine}")
    return missing


class Sandbox:
    """A confinement ready to use: ``wrap`` a command as often as you like. Close it when done.

    Raises ``IsolationError`` if a part is missing.
    """

    def __init__(self, confinement: Confinement) -> None:
        missing = missing_parts()
        if missing:
            raise IsolationError(
                "isolation tier T2 can't be had here",
                expected="bubblewrap, util-linux and a seccomp filter for this machine",
                found="; ".join(missing),
                fix="install what is missing, or run a suite that demands T1",
                code="tier_unmet",
            )
        self.confinement = confinement
        self._is_root = os.geteuid() == 0
        self._bindings: dict[tuple[str, Path], list[str]] = {}
        self._filter: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the sandbox
        self._filter.write(build_filter(network=confinement.network) or b"")
        self._filter.flush()

    def close(self) -> None:
        """Let go of the filter."""
        self._filter.close()

    @property
    def uid(self) -> int:
        """The user id that agents see."""
        return _NOBODY if self._is_root else os.geteuid()

    @property
    def runs_as(self) -> str:
        """The user that agents run as."""
        return f"uid {_NOBODY}" if self._is_root else f"uid {os.geteuid()} in a namespace of its own"

    def wrap(self, argv: Sequence[str], folder: Path) -> tuple[list[str], dict[int, int]]:
        """The command to start instead of ``argv``, and the descriptor that it must inherit by the number that it
        expects (the caller closes it).

        ``argv[0]`` must be a path.
        """
        filter_fd = os.open(f"/proc/self/fd/{self._filter.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
        bound = self.confinement
        limits = [
            f"--data={bound.data_bytes}",
            f"--fsize={bound.file_bytes}",
            f"--nproc={bound.processes}",
            f"--nofile={bound.open_files}",
            "--core=0",
        ]
        drop = ["--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all"]
        if self._is_root:
            drop += [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--bounding-set=-all"]
        command = [
            _path("bwrap"),
            *self._namespaces(),
            *self._files_once(argv[0], folder),
            *(word for name, value in self._environment().items() for word in ("--setenv", name, value)),
            "--seccomp",
            str(_FILTER_NUMBER),
            "--chdir",
            str(folder),
            "--",
            _path("prlimit"),
            *limits,
            "--",
            _path("setpriv"),
            *drop,
            "--",
            *argv,
        ]
        return command, {_FILTER_NUMBER: filter_fd}

    def mounts(self, program: str, folder: Path) -> dict[str, str]:
        """What may be seen at all, and whether it may be written (``rw``). Below a folder its own mode holds."""
        fixed = {"/": "ro", "/usr": "ro", "/proc": "rw", "/dev": "rw", _HOME: "rw"}
        system = {name: "ro" for name in _SYSTEM if Path(name).is_dir() and not Path(name).is_symlink()}
        etc = {f"/etc/{name}": "ro" for name in _ETC if Path(f"/etc/{name}").exists()}
        return fixed | system | etc | {str(path): "ro" for path in self._readable(program, folder)}

    @property
    def environment_names(self) -> tuple[str, ...]:
        """Names that an agent's environment may hold; bubblewrap and Python add the last two."""
        return tuple(sorted({*self._environment(), "LC_CTYPE", "PWD"}))

    def _environment(self) -> dict[str, str]:
        return {"HOME": _HOME, "TMPDIR": _HOME, "LANG": "C.UTF-8", "TZ": "UTC", **self.confinement.environment}

    def _namespaces(self) -> list[str]:
        words = ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        words += ["--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"]
        if self._is_root:
            words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        else:
            words += ["--unshare-user", "--disable-userns"]
        if not self.confinement.network:
            words.append("--unshare-net")
        return words

    def _files_once(self, program: str, folder: Path) -> list[str]:
        """The same for every start of a program; looking at the disk for it costs a millisecond."""
        key = program, folder
        if key not in self._bindings:
            self._bindings[key] = self._files(program, folder)
        return self._bindings[key]

    def _files(self, program: str, folder: Path) -> list[str]:
        words = ["--ro-bind", "/usr", "/usr"]
        for name in _SYSTEM:
            path = Path(name)
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), name]
            elif path.is_dir():
                words += ["--ro-bind", name, name]
        for name in _ETC:
            words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        words += ["--proc", "/proc", "--dev", "/dev"]
        words += ["--perms", "1777", "--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", _SHARED, "--remount-ro", "/dev"]
        words += ["--perms", "1777", "--size", str(self.confinement.tmp_bytes), "--tmpfs", _HOME]
        made: set[Path] = {Path("/"), Path(_HOME)}
        for path in self._readable(program, folder):
            for parent in reversed(path.parents):
                if parent not in made:
                    words += ["--perms", "0755", "--dir", str(parent)]
                    made.add(parent)
            words += ["--ro-bind", str(path), str(path)]
        for path in self.confinement.hidden:
            if any(path.resolve().is_relative_to(root) for root in self._readable(program, folder)):
                words += ["--perms", "0555", "--size", "4096", "--tmpfs", str(path.resolve())]
                words += ["--remount-ro", str(path.resolve())]
        return [*words, "--remount-ro", "/"]

    def _readable(self, program: str, folder: Path) -> list[Path]:
        """The folders bound read-only, outermost first, those below /usr left out."""
        wanted = {folder.resolve(), *(path.resolve() for path in self.confinement.readable), *_program_roots(program)}
        return sorted((path for path in wanted if not path.is_relative_to("/usr")), key=lambda path: len(path.parts))


def _program_roots(program: str) -> set[Path]:
    """The folders that a program needs: the installation it is part of, and, for a virtual environment's interpreter,
    the environment and the Python that it was made from."""
    roots = set()
    for path in (Path(program), Path(program).resolve()):
        prefix = path.parent.parent if path.parent.name in ("bin", "sbin") else path.parent
        if prefix != Path("/"):
            roots.add(prefix)
    if Path(program).resolve() == Path(sys.executable).resolve():
        roots |= {Path(sys.prefix), Path(sys.base_prefix)}
    return roots


def _path(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise IsolationError(f"{program} has gone", expected=f"{program} on the PATH", code="tier_unmet")
    return found
