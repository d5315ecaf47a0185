"""Reading a suite's files as far as they can be read, with every mistake on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proctor.checking.model import Mistakes
from proctor.codec.json_strict import parse_json
from proctor.codec.models import nearest
from proctor.codec.toml_places import read_toml
from proctor.errors import InputError, Place, ProctorError, SuiteError
from proctor.suite.answer import AnswerType
from proctor.suite.gather import gather, gather_model
from proctor.suite.generate import generate_cases
from proctor.suite.load import Suite
from proctor.suite.model import Case, SuiteSpec

__all__ = ["Draft", "read_draft"]

_FILL = {"name": "suite", "version": "0"}
_FILLED: Mapping[str, Any] = {"cases": "cases.jsonl", "world": "world.py", "graders": ("state",)}
_RUN_PARTS = tuple(_FILLED)


@dataclass
class Draft:
    """A suite as far as it could be read. ``cases`` hold the readable ones, each with its place."""

    suite: Suite
    cases: list[tuple[Case, Place]] = field(default_factory=list)

    @property
    def spec(self) -> SuiteSpec:
        """``suite.toml`` without its mistakes."""
        return self.suite.spec

    def place(self, path: str) -> Place:
        """The place of a field of ``suite.toml``."""
        return self.suite.place(path)

    def file_place(self, name: str, line: int | None = None) -> Place:
        """A place in one of the suite's files."""
        return Place(str(self.suite.folder / name), line)


def read_draft(folder: Path, mistakes: Mistakes, *, seed: int) -> Draft | None:
    """The suite in a folder; None where ``suite.toml`` can't be read at all."""
    try:
        values, place = read_toml(folder / "suite.toml")
    except SuiteError as error:
        mistakes.take(error, fix="mend the TOML: keys are written key = value, texts in quotes")
        return None
    spec, found = gather_model(values, SuiteSpec, place, fill=_FILL)
    for mistake in found:
        mistakes.take(mistake)
    if spec is None:
        return None
    spec = _parts(spec, place, mistakes)
    suite = Suite(
        folder=folder,
        spec=spec,
        place=place,
        gate_values=spec.gate or {},
        gate_place=lambda path: place(f"gate.{path}" if path else "gate"),
    )
    suite = _gate_file(suite, mistakes)
    draft = Draft(_answer(suite, mistakes))
    _files(draft, mistakes)
    if not spec.has_world:
        return draft
    draft.cases = list(_read_cases(draft, mistakes, seed))
    _ids(draft, mistakes)
    return draft


def _parts(spec: SuiteSpec, place: Callable[[str], Place], mistakes: Mistakes) -> SuiteSpec:
    """A suite to run needs all of its parts; one that only scores recorded results needs none of them."""
    absent = [name for name in _RUN_PARTS if not getattr(spec, name)]
    if not absent or (spec.records is not None and len(absent) == len(_RUN_PARTS)):
        return spec
    for name in absent:
        mistakes.add(f"the key {name!r} is missing", place(""), code="missing_key", expected=name, fix=f"add {name!r}")
    return msgspec.structs.replace(spec, **{name: _FILLED[name] for name in absent})


def _gate_file(suite: Suite, mistakes: Mistakes) -> Suite:
    path = suite.folder / "gate.toml"
    if not path.is_file():
        if suite.spec.gate is None:
            mistakes.add(
                "the suite has no gate",
                Place(str(suite.folder / "suite.toml"), 1),
                code="no_gate",
                expected="a [gate] table or a gate.toml",
                fix='add [gate] with zero = ["missing"] and overall = { rate = 0.9 }',
            )
        return suite
    if suite.spec.gate is not None:
        mistakes.add(
            "the gate is written twice",
            suite.place("gate"),
            code="two_gates",
            expected="a [gate] table or a gate.toml, not both",
            fix="keep one of the two",
        )
        return suite
    try:
        values, place = read_toml(path)
    except SuiteError as error:
        mistakes.take(error)
        return suite
    return Suite(folder=suite.folder, spec=suite.spec, place=suite.place, gate_values=values, gate_place=place)


def _answer(suite: Suite, mistakes: Mistakes) -> Suite:
    """The suite with those fields of its answer whose types exist."""
    fields = suite.spec.answer
    if fields is None:
        return suite
    left, found = gather(
        fields,
        lambda values: (AnswerType(values, suite.place), values)[1],
        lambda error: (error.place.field if error.place and error.place.field else "").removeprefix("answer."),
    )
    for error in found:
        mistakes.take(error, fix='write for example refunded = "bool"')
    spec = msgspec.structs.replace(suite.spec, answer=left or None)
    return Suite(suite.folder, spec, suite.place, suite.gate_values, suite.gate_place)


def _files(draft: Draft, mistakes: Mistakes) -> None:
    """Every file that ``suite.toml`` names is there."""
    spec, folder = draft.spec, draft.suite.folder
    named = [("world", spec.world), ("policy", spec.policy), ("agents", spec.agents)]
    named.append(("cases", spec.cases.split(":")[0] if draft.suite.has_generator else spec.cases))
    named += [("corpus", spec.corpus.split(":")[0])] if spec.corpus else []
    named += [(f"graders[{i}]", name.split(":")[0]) for i, name in enumerate(spec.graders) if ".py:" in name]
    there = sorted(p.relative_to(folder).as_posix() for p in draft.suite.files())
    for key, name in named:
        if not name:
            continue
        path = folder / name
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            guess = nearest(name, there)
            mistakes.add(
                f"there is no file {name!r} in the suite's folder",
                draft.place(key),
                code="no_file",
                expected="a file inside the suite's folder",
                found=name,
                fix=f"did you mean {guess!r}?" if guess else f"create {name}, or change {key.split('[')[0]!r}",
            )


def _read_cases(draft: Draft, mistakes: Mistakes, seed: int) -> list[tuple[Case, Place]]:
    rows = _generated(draft, mistakes, seed) if draft.suite.has_generator else _written(draft, mistakes)
    cases = []
    for place, row in rows:

        def at(path: str, place: Place = place) -> Place:
            return Place(place.file, place.line, path or place.field)

        case, found = gather_model(row, Case, at, fill={"id": f"line-{place.line}"})
        for error in found:
            mistakes.take(error)
        if case is not None:
            cases.append((case, place))
    if not cases and not mistakes:
        mistakes.add(
            "the suite has no case", draft.place("cases"), code="no_cases", expected="at least one case", fix="add one"
        )
    return cases


def _written(draft: Draft, mistakes: Mistakes) -> list[tuple[Place, dict[str, Any]]]:
    """The rows of ``cases.jsonl``, each read by itself so that one broken line doesn't hide the others."""
    path = draft.suite.folder / draft.spec.cases
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")
    rows = []
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines, 1):
        place = Place(str(path), number)
        if not line.strip():
            fix = "remove the line, or restore the case that stood there"
            mistakes.add("blank line", place, code="syntax", expected="one JSON object a line", fix=fix)
            continue
        try:
            row = parse_json(line, file=str(path), first_line=number)
        except InputError as error:
            mistakes.take(error, fix="mend the JSON of this line")
            continue
        if isinstance(row, dict):
            rows.append((place, row))
        else:
            fix = "write each case as one object on one line"
            mistakes.add("not an object", place, code="syntax", expected="a JSON object", found=row, fix=fix)
    return rows


def _generated(draft: Draft, mistakes: Mistakes, seed: int) -> list[tuple[Place, dict[str, Any]]]:
    file, _, function = draft.spec.cases.partition(":")
    path = draft.suite.folder / file
    if not path.is_file():
        return []
    place = Place(str(path), _line_of(path, function))
    try:
        made = generate_cases(draft.suite.folder, draft.spec.cases, seed)
    except ProctorError as error:
        mistakes.take(error, place, fix=f"mend {function} in {file}")
        return []
    return [(Place(place.file, place.line, f"case {number}"), row) for number, row in enumerate(made, 1)]


def _line_of(path: Path, function: str) -> int | None:
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (SyntaxError, ValueError):
        return None
    return next((n.lineno for n in body if isinstance(n, ast.FunctionDef) and n.name == function), None)


def _ids(draft: Draft, mistakes: Mistakes) -> None:
    """Ids differ, and by more than upper and lower case: they name files."""
    first: dict[str, tuple[str, Place]] = {}
    kept: list[tuple[Case, Place]] = []
    for case, place in draft.cases:
        other = first.get(case.id.lower())
        if other is None:
            first[case.id.lower()] = case.id, place
            kept.append((case, place))
            continue
        same = other[0] == case.id
        mistakes.add(
            "two cases have one id" if same else f"two ids differ in upper and lower case alone: {other[0]}, {case.id}",
            Place(place.file, place.line, "id"),
            code="duplicate_case",
            expected="each id once",
            found=f"{case.id}, as in line {other[1].line}" if other[1].line else case.id,
            fix="give the case an id of its own",
        )
    draft.cases = kept
