"""``proctor suite``: make, check, show and extend suites."""

from __future__ import annotations

from collections.abc import Mapping

import click

from proctor.cli.main import LazyGroup

__all__ = ["suite"]

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "check": ("proctor.cli.suite_check:check", "Find every mistake of a suite, with file, line and fix."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def suite() -> None:
    """Make, check, show and extend suites."""
