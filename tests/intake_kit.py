"""For tests of the suite intake: its cases and its modules, without leaving them in ``sys.modules``."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from proctor.suite.load import Suite, load_suite

NAMES = ("corpus", "keys", "matter", "publish", "truth", "world")


@functools.cache
def suite() -> Suite:
    return load_suite("intake")


@functools.cache
def modules() -> Mapping[str, ModuleType]:
    hidden = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    sys.path.insert(0, str(suite().folder))
    try:
        return {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(suite().folder))
        for name in NAMES:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


@functools.cache
def cases(seed: int = 1) -> tuple[dict[str, Any], ...]:
    return tuple(modules()["corpus"].cases(seed))
