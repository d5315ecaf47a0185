"""A suite's mistakes as values, and the list they are gathered in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from proctor.codec.models import nearest
from proctor.errors import Place, ProctorError, shorten
from proctor.gate.foresee import Chance
from proctor.score.summary import Rate

__all__ = ["Mistake", "Mistakes", "SuiteCheck"]

Level = Literal["mistake", "warning"]


class Mistake(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong (``mistake``) or probably not meant (``warning``). ``file`` is relative to the suite's
    folder; ``fix`` says what to do."""

    level: Level
    code: str
    file: str
    line: int | None
    field: str | None
    problem: str
    expected: str | None
    found: str | None
    fix: str | None

    @property
    def text(self) -> str:
        """``suite.toml:12: contract.forbid[0]: there is no tool …; expected …; found …; did you mean …``."""
        place = Place(self.file, self.line, self.field)
        error = ProctorError(self.problem, place=place, expected=self.expected, found=self.found, fix=self.fix)
        return error.message


class SuiteCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. ``floor`` and ``chance`` are None where mistakes keep them from being worked out: the share
    of cases that an agent passes by doing nothing, and the chance that an agent which passes 98% of its cells passes
    this gate."""

    folder: str
    suite: str
    cases: int
    groups: int
    runs: int
    mistakes: tuple[Mistake, ...]
    floor: Rate | None
    chance: Chance | None

    @property
    def n_mistakes(self) -> int:
        """How many must be mended."""
        return sum(mistake.level == "mistake" for mistake in self.mistakes)

    @property
    def exit_code(self) -> int:
        """0 if only warnings were found, else 2."""
        return 2 if self.n_mistakes else 0


class Mistakes:
    """Gathers mistakes, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[tuple[str, int | None, str, str], Mistake] = {}

    def __len__(self) -> int:
        return sum(mistake.level == "mistake" for mistake in self._found.values())

    def of_file(self, name: str) -> list[Mistake]:
        """What must be mended in one file."""
        return [m for m in self._found.values() if m.level == "mistake" and m.file == name]

    def add(
        self,
        problem: str,
        place: Place,
        *,
        code: str,
        expected: str | None = None,
        found: object = None,
        fix: str | None = None,
        level: Level = "mistake",
    ) -> None:
        """Note a mistake."""
        file = self._relative(place.file)
        line = place.line if place.line is not None or not file.endswith(".toml") else 1
        mistake = Mistake(
            level=level,
            code=code,
            file=file,
            line=line,
            field=place.field,
            problem=problem,
            expected=expected,
            found=None if found is None else shorten(found),
            fix=fix,
        )
        self._found.setdefault((file, line, problem, place.field or ""), mistake)

    def warn(self, problem: str, place: Place, *, code: str, fix: str, found: object = None) -> None:
        """Note what is probably not meant."""
        self.add(problem, place, code=code, found=found, fix=fix, level="warning")

    def take(self, error: ProctorError, place: Place | None = None, *, fix: str = "change it as expected") -> None:
        """Note an error that was raised, at its own place if it has one."""
        own = error.place if error.place is not None and error.place.file is not None else None
        self.add(
            error.problem,
            own or place or Place(str(self._folder / "suite.toml")),
            code=error.code or "suite",
            expected=error.expected,
            found=error.found,
            fix=error.fix or fix,
        )

    def unknown(self, what: str, name: str, known: list[str], place: Place, *, code: str) -> None:
        """Note a name that isn't one of ``known``, with the nearest one."""
        guess = nearest(name, known)
        listed = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        self.add(
            f"there is no {what} {name!r}",
            place,
            code=code,
            expected=f"one of {listed}" if known else f"no {what}: there is none",
            found=name,
            fix=f"did you mean {guess!r}?" if guess else f"name one of them, or add the {what}",
        )

    def in_order(self) -> tuple[Mistake, ...]:
        """By file (``suite.toml`` first), then line."""
        return tuple(sorted(self._found.values(), key=lambda m: (m.file != "suite.toml", m.file, m.line or 0)))

    def _relative(self, file: str | None) -> str:
        if file is None:
            return "suite.toml"
        path = Path(file)
        return path.relative_to(self._folder).as_posix() if path.is_relative_to(self._folder) else file
