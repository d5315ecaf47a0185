"""Loading a suite's folder, or one that ships with Proctor, into values. Runs none of the suite's code.

Cases from a generator (``cases = "corpus.py:cases"``) are made in a process of their own (``suite.generate``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from proctor.codec.canonical import digest_file, digest_json
from proctor.codec.jsonl import read_jsonl
from proctor.codec.models import convert, nearest
from proctor.codec.toml_places import read_toml
from proctor.errors import Place, SuiteError, UsageError
from proctor.suite.answer import AnswerType
from proctor.suite.generate import generate_cases
from proctor.suite.model import AgentEntry, Case, SuiteSpec

__all__ = ["Suite", "builtin_suites", "load_suite", "parse_case", "suite_folder"]

BUILTIN = Path(__file__).resolve().parent.parent / "builtin"
SEALED_KEYS = "sealed-keys.jsonl"
_LEFT_OUT = {"__pycache__", "agents", "README.md", "runs", SEALED_KEYS}


class _AgentsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent: tuple[AgentEntry, ...]


@dataclass(frozen=True)
class Suite:
    """A loaded suite. ``place`` turns a path in ``suite.toml`` into file and line."""

    folder: Path
    spec: SuiteSpec
    place: Callable[[str], Place]
    gate_values: dict[str, Any]
    gate_place: Callable[[str], Place]

    @cached_property
    def answer(self) -> AnswerType | None:
        """The answer's type, where the suite declares one."""
        return None if self.spec.answer is None else AnswerType(self.spec.answer, self.place)

    @cached_property
    def policy_text(self) -> str | None:
        """The policy that agents are shown."""
        if self.spec.policy is None:
            return None
        path = self._inside(self.spec.policy, "policy")
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SuiteError(
                f"the policy can't be read: {error}", place=Place(str(path)), expected="UTF-8 text", code="encoding"
            ) from None

    @cached_property
    def agents(self) -> tuple[AgentEntry, ...]:
        """The agents that ship with the suite."""
        if self.spec.agents is None:
            return ()
        values, place = read_toml(self._inside(self.spec.agents, "agents"))
        return convert(values, _AgentsFile, place=place).agent

    @property
    def agents_folder(self) -> Path:
        """The folder that shipped agents run in."""
        return self.folder if self.spec.agents is None else (self.folder / self.spec.agents).parent

    @property
    def has_generator(self) -> bool:
        """Whether cases come from a seeded generator instead of a file."""
        return ".py:" in self.spec.cases

    def cases(self, seed: int) -> tuple[Case, ...]:
        """All cases in order; the seed matters to a generator only. Raises ``SuiteError``."""
        if not self.spec.has_world:
            raise UsageError(
                f"the suite {self.spec.name} has no world to run agents in",
                place=self.place(""),
                expected="cases, world and graders in suite.toml",
                fix="score recorded results with proctor score",
            )
        if self.has_generator:
            rows = [
                (Place(self.spec.cases, None, f"case {number}"), row)
                for number, row in enumerate(generate_cases(self.folder, self.spec.cases, seed), 1)
            ]
        else:
            path = self._inside(self.spec.cases, "cases")
            rows = [(Place(str(path), line), row) for line, row in read_jsonl(path)]
        if not rows:
            raise SuiteError(
                "the suite has no case", place=self.place("cases"), expected="at least one case", code="no_cases"
            )
        cases: dict[str, Case] = {}
        for place, row in rows:
            case = parse_case(row, place)
            if case.id in cases:
                raise SuiteError(
                    "two cases have one id",
                    place=Place(place.file, place.line, "id"),
                    expected="each id once",
                    found=case.id,
                    code="duplicate_case",
                )
            cases[case.id] = case
        return tuple(cases.values())

    def files(self) -> list[Path]:
        """The files that make the suite what it is: all but its agents, its README, sealed keys, caches, and runs made
        inside its folder."""
        found: list[Path] = []
        folders = [self.folder]
        while folders:
            for path in folders.pop().iterdir():
                if path.name in _LEFT_OUT or path.name.startswith(".") or path.is_symlink():
                    continue
                if path.is_dir() and not (path / "plan.json").is_file() and not (path / "ledger").is_dir():
                    folders.append(path)
                elif path.is_file():
                    found.append(path)
        return sorted(found)

    @cached_property
    def digest(self) -> str:
        """Digest over the suite's files (path, size, SHA-256), sorted by path."""
        return digest_json(
            [
                {"path": p.relative_to(self.folder).as_posix(), "size": p.stat().st_size, "sha256": digest_file(p)}
                for p in self.files()
            ]
        )

    def _inside(self, name: str, key: str) -> Path:
        path = self.folder / name
        if not path.is_file() or not path.resolve().is_relative_to(self.folder.resolve()):
            raise SuiteError(
                f"there is no file {name!r} in the suite's folder",
                place=self.place(key),
                expected="a file inside the suite's folder",
                found=name,
                fix=f"create {path}, or change {key!r}",
                code="no_file",
            )
        return path


def builtin_suites() -> list[str]:
    """Names of the suites that ship with Proctor."""
    return sorted(path.parent.name for path in BUILTIN.glob("*/suite.toml"))


def load_suite(reference: str | Path) -> Suite:
    """A suite by folder, by its ``suite.toml``, or by the name of one that ships. Raises ``SuiteError``."""
    folder = suite_folder(reference)
    values, place = read_toml(folder / "suite.toml")
    spec = convert(values, SuiteSpec, place=place)
    suite = Suite(
        folder=folder,
        spec=spec,
        place=place,
        gate_values=spec.gate or {},
        gate_place=lambda field: place(f"gate.{field}" if field else "gate"),
    )
    gate_file = folder / "gate.toml"
    if gate_file.is_file():
        if spec.gate is not None:
            raise SuiteError(
                "the gate is written twice",
                place=place("gate"),
                expected="a [gate] table or a gate.toml, not both",
                fix="keep one of the two",
                code="two_gates",
            )
        gate_values, gate_place = read_toml(gate_file)
        suite = Suite(folder=folder, spec=spec, place=place, gate_values=gate_values, gate_place=gate_place)
    elif spec.gate is None:
        raise SuiteError(
            "the suite has no gate",
            place=Place(str(folder / "suite.toml")),
            expected="a [gate] table or a gate.toml",
            fix="add [gate] with overall = { rate = 0.9 }",
            code="no_gate",
        )
    _require_parts(suite)
    _ = suite.answer
    return suite


def _require_parts(suite: Suite) -> None:
    """A world needs its three parts; a suite without any needs records. Raises ``SuiteError``."""
    spec, parts = suite.spec, ("cases", "world", "graders")
    absent = [name for name in parts if not getattr(spec, name)]
    if absent and (spec.records is None or len(absent) < len(parts)):
        raise SuiteError(
            f"the key {absent[0]!r} is missing",
            place=suite.place(""),
            expected=absent[0],
            fix=f"add {absent[0]!r}" + ("" if spec.records else ", or [records] for a suite that only scores results"),
            code="missing_key",
        )


def parse_case(row: dict[str, Any], place: Place) -> Case:
    """One case from a JSON object. Raises ``SuiteError`` with the line."""
    return convert(row, Case, place=lambda field: Place(place.file, place.line, field or None))


def suite_folder(reference: str | Path) -> Path:
    """Where a suite stands, named as for ``load_suite``. Raises ``UsageError`` where there is none."""
    path = Path(reference)
    if path.name == "suite.toml" and path.is_file():
        return path.resolve().parent
    if (path / "suite.toml").is_file():
        return path.resolve()
    if str(reference) in builtin_suites():
        return BUILTIN / str(reference)
    known = builtin_suites()
    guess = nearest(str(reference), known)
    raise UsageError(
        f"there is no suite {str(reference)!r}",
        expected=f"a folder with a suite.toml, or one of {', '.join(known)}",
        found="a folder without suite.toml" if path.is_dir() else None,
        fix=f"did you mean {guess!r}?" if guess else "proctor suite new NAME makes one",
    )
