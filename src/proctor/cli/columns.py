"""The options that say which column of a table means what, shared by the commands that read tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["column_options"]

_F = TypeVar("_F", bound=Callable[..., Any])

_OPTIONS = (
    ("--case", "Column of the case's id."),
    ("--run", "Column that tells the runs of a case apart."),
    ("--passed", "Column of passed or failed (true/false, 1/0, pass/fail)."),
    ("--score", "Column of scores from 0 to 1, instead of --passed."),
    ("--group", "Column of groups: cases that share one aren't independent."),
    ("--slice", "Column of slices."),
    ("--status", "Column of how a cell ended (missing, infra_error, …)."),
    ("--tokens", "Column of tokens spent."),
    ("--cost", "Column of US dollars spent."),
)


def column_options(command: _F) -> _F:
    """Add the column options and ``--pass-at`` to a command."""
    command = click.option("--pass-at", type=float, metavar="X", help="A score of X or more counts as passed.")(command)
    for option, text in reversed(_OPTIONS):
        command = click.option(option, metavar="COLUMN", help=text)(command)
    return command
