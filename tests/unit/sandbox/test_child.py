"""A suite's own code that misbehaves in its process: it never answers twice, and never for another request."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.errors import SuiteError
from proctor.suite.generate import generate_cases


def _generator(folder: Path, body: str) -> Path:
    (folder / "corpus.py").write_text(f"import os\n\ndef cases(seed):\n    {body}\n", encoding="utf-8")
    return folder


def test_a_forked_copy_does_not_answer(tmp_path: Path) -> None:
    folder = _generator(tmp_path, 'child = os.fork()\n    return [{"id": "copy" if child == 0 else "original"}]')
    for _ in range(5):  # whichever of the two is faster
        assert generate_cases(folder, "corpus.py:cases", 1) == [{"id": "original"}]


def test_a_copy_made_while_loading_does_not_answer(tmp_path: Path) -> None:
    text = 'import os\nCHILD = os.fork()\ndef cases(seed):\n    return [{"id": "copy" if CHILD == 0 else "original"}]\n'
    (tmp_path / "corpus.py").write_text(text, encoding="utf-8")
    assert generate_cases(tmp_path, "corpus.py:cases", 1) == [{"id": "original"}]


def test_what_a_generator_raises_names_its_line(tmp_path: Path) -> None:
    folder = _generator(tmp_path, 'raise ValueError("boom")')
    with pytest.raises(SuiteError, match=r"corpus\.py:4: ValueError: boom") as caught:
        generate_cases(folder, "corpus.py:cases", 1)
    assert caught.value.place is not None and caught.value.place.line == 4
