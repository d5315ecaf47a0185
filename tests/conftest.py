"""What all tests share: where the known answers are, and a workspace that leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder of known answers, given by ``PROCTOR_CONFORMANCE_DIR``; without it the test skips and says so."""
    folder = os.environ.get("PROCTOR_CONFORMANCE_DIR")
    if not folder:
        pytest.skip("PROCTOR_CONFORMANCE_DIR is not set: known answers are not on this machine")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"PROCTOR_CONFORMANCE_DIR names no folder: {path}")
    return path.resolve()
