"""A decision as people read it, in 80 columns of plain text: verdict, why, and every rule with its figure.
Pure.
"""

from __future__ import annotations

import textwrap
from typing import Final

from proctor.errors import shorten
from proctor.gate.decide import Decision, RuleResult
from proctor.gate.model import Held

__all__ = ["render_decision"]

_WIDTH: Final = 80
_INDENT: Final = " " * 35
_MARKS: Final = {Held.HOLDS: "holds", Held.BROKEN: "BROKEN", Held.OPEN: "OPEN"}


def render_decision(decision: Decision, *, cells: int = 5) -> str:
    """The verdict first, then the rules by layer, those that don't hold with up to ``cells`` of their
    cells.
    """
    d = decision
    lines = [f"{d.verdict.name}  {d.passed:,}/{d.planned:,} planned cells passed" + _range(d), ""]
    lines += [_wrap(f"- {reason}", "  ") for reason in d.reasons]
    lines += [""] if d.reasons else []
    for result in d.rules:
        lines.append(_rule(result))
        if result.held is not Held.HOLDS:
            lines += _detail(result, cells)
    lines += ["", f"rules {d.policy_digest[:19]}; PASS means that these rules held, and nothing more"]
    return "\n".join(lines) + "\n"


def _range(d: Decision) -> str:
    if d.rate_low is None or d.rate_high is None:
        return ""
    if d.rate_low == d.rate_high:
        return f" ({d.rate_low:.1%})"
    return f" ({d.rate_low:.1%} to {d.rate_high:.1%}, {d.unresolved:,} unresolved)"


def _rule(result: RuleResult) -> str:
    figure = "" if result.figure is None else _figure(result.figure)
    if result.figure_best is not None and result.figure is not None and result.figure_best != result.figure:
        figure += f"-{_figure(result.figure_best)}"
    return _wrap(f"{result.layer.value:11} {_MARKS[result.held]:7} {figure:>13}  {shorten(result.asks, 200)}", _INDENT)


def _figure(value: float) -> str:
    return f"{value:.0f}" if value > 1 or value in (0, 1) else f"{value:.4f}"


def _detail(result: RuleResult, cells: int) -> list[str]:
    found = []
    if result.cells:
        names = ", ".join(shorten(cell, 40) for cell in result.cells[:cells])
        more = f" and {result.cells_against - cells:,} more" if result.cells_against > cells else ""
        found.append(f"at {names}{more}")
    if result.note:
        found.append(result.note)
    return [_wrap(_INDENT + "; ".join(found), _INDENT)] if found else []


def _wrap(text: str, indent: str) -> str:
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.fill(text.lstrip(), _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
