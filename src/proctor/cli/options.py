"""Kinds of values that options of several commands share."""

from __future__ import annotations

from typing import Final

import click

__all__ = ["SEED"]

SEED: Final = click.IntRange(0, 2**53 - 1)
"""A seed stands in the plan, and JSON numbers are exact up to there."""
