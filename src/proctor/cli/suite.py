"""``proctor suite``: make, check, show and extend suites."""

from __future__ import annotations

from collections.abc import Mapping

import click

from proctor.cli.main import LazyGroup

__all__ = ["suite"]

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "new": ("proctor.cli.suite_new:new", "Make a small suite that runs at once."),
    "check": ("proctor.cli.suite_check:check", "Find every mistake of a suite, with file, line and fix."),
    "show": ("proctor.cli.suite_show:show", "Show a suite: tools, cases, rules, and what its agents see."),
    "add-case": ("proctor.cli.suite_add_case:add_case", "Make a case from a recorded run."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def suite() -> None:
    """Make, check, show and extend suites."""
