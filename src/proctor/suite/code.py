"""Loading a suite's own Python files. Called only in child processes, never in the supervisor.

The suite's folder goes on ``sys.path`` there, so that its files can import each other by plain name.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from proctor.errors import Place, ProctorError, SuiteError

__all__ = ["line_in", "load_attribute", "load_file", "split_reference"]


def split_reference(reference: str) -> tuple[str, str]:
    """``grader.py:told_the_truth`` → (``grader.py``, ``told_the_truth``). Raises ``SuiteError``."""
    file, colon, name = reference.rpartition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise SuiteError(
            f"{reference!r} names no function", expected="file.py:function", found=reference, code="reference"
        )
    return file, name


def load_file(folder: Path, file: str) -> ModuleType:
    """Run one of the suite's files as a module. Raises ``SuiteError`` with the file and line of what broke."""
    path = folder / file
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    name = Path(file).stem
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(path):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SuiteError(f"there is no file {file}", place=Place(str(path)), expected="a Python file", code="no_file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ProctorError as error:
        if error.place is None:
            error.place = Place(str(path), line_in(error, path))
        raise
    except SyntaxError as error:
        raise SuiteError(
            f"{error.msg}", place=Place(str(path), error.lineno), expected="valid Python", code="suite_code"
        ) from error
    except Exception as error:
        raise SuiteError(
            f"the file can't be loaded: {type(error).__name__}: {error}",
            place=Place(str(path), line_in(error, path)),
            expected="a file that runs on its own",
            code="suite_code",
        ) from error
    return module


def line_in(error: BaseException, path: Path) -> int | None:
    """The line of a file that an error went through last."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def load_attribute(folder: Path, reference: str) -> Any:
    """The object that ``file.py:name`` names. Raises ``SuiteError``."""
    file, name = split_reference(reference)
    module = load_file(folder, file)
    if not hasattr(module, name):
        there = sorted(n for n in vars(module) if not n.startswith("_") and callable(getattr(module, n)))
        raise SuiteError(
            f"{file} defines no {name}",
            place=Place(str(folder / file)),
            expected=", ".join(there) or "a function",
            found=name,
            code="reference",
        )
    return getattr(module, name)
