"""Cases and corpora from a suite's own seeded generator, run in a child process.

A generator is a function ``cases(seed: int) -> list[dict]``; a corpus writer is ``publish(seed: int) -> dict`` of file
name → text or bytes. Same seed, same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from proctor.errors import Place, ProctorError, SuiteError
from proctor.sandbox.child import Child, serve
from proctor.suite.code import line_in, load_attribute, split_reference

__all__ = ["generate_cases", "generate_corpus", "main"]


def generate_cases(folder: Path, reference: str, seed: int) -> list[dict[str, Any]]:
    """The cases that ``file.py:function`` makes of a seed. Raises ``SuiteError``."""
    with Child("proctor.suite.generate", [str(folder), reference], what="the case generator") as child:
        return child.ask("cases", seed, reply=list[dict[str, Any]])


def generate_corpus(folder: Path, reference: str, seed: int) -> dict[str, bytes]:
    """The files that a corpus writer makes of a seed: relative path → bytes. Raises ``SuiteError``."""
    with Child("proctor.suite.generate", [str(folder), reference], what="the corpus writer") as child:
        files = child.ask("corpus", seed, reply=dict[str, bytes])
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise SuiteError("a corpus file would leave its folder", expected="a relative path", found=name)
    return files


def main(arguments: list[str]) -> None:
    """Serve the function of ``FOLDER REFERENCE``."""
    folder, reference = arguments
    path = Path(folder) / split_reference(reference)[0]

    def load() -> Mapping[str, Callable[..., Any]]:
        function = load_attribute(Path(folder), reference)
        return {
            "cases": lambda seed: cases(call(function, seed)),
            "corpus": lambda seed: corpus(call(function, seed)),
        }

    def call(function: Callable[[int], Any], seed: int) -> Any:
        try:
            return function(seed)
        except ProctorError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            raise SuiteError(problem, place=Place(str(path), line_in(error, path)), code="suite_code") from error

    def cases(made: Any) -> list[dict[str, Any]]:
        if not isinstance(made, list) or not all(isinstance(row, dict) for row in made):
            raise SuiteError(f"{reference} made no cases", expected="a list of dicts", found=type(made).__name__)
        return made

    def corpus(made: Mapping[str, str | bytes]) -> dict[str, bytes]:
        return {name: text.encode() if isinstance(text, str) else bytes(text) for name, text in made.items()}

    serve(load)
