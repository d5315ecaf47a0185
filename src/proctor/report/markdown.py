"""The report as Markdown that fits a pull-request comment. Pure.

Data never becomes markup: it stands in code, where it can't mention people, link, or open a tag. The whole is within
``MAX_CHARACTERS``; what is left out is counted.
"""

from __future__ import annotations

import re
import shlex

from proctor.report.cellpage import where_text
from proctor.report.document import Cell, Document, Rule
from proctor.report.values import counted, one_line, percent, visible
from proctor.report.worst import sorted_findings, worst_cells
from proctor.score.summary import Rate

__all__ = ["MAX_CHARACTERS", "code", "render_markdown"]

MAX_CHARACTERS = 60_000
"""A comment on GitHub holds 65,536 characters."""

_MOST_CELLS = 10
_MOST_FINDINGS = 3
_MOST_ROWS = 20
_SPAN = re.compile(r"[^`|\\\s](?:[^`|\\]*[^`|\\\s])?")
_ACTIVE = re.compile(r"[!-+:<>@\[-`{-~]|(?<=[wW])\.")
_MARKS = {"PASS": "✅", "BLOCK": "❌", "INVALID": "⚠️", "UNDECIDED": "❔"}


def render_markdown(document: Document, *, folder: str) -> str:
    """A comment: verdict and why first, then figures, then the worst cells."""
    blocks = [
        _head(document),
        _reasons(document),
        _figures(document),
        _rules(document.gate_basis),
        *_cells(document),
        _foot(document, folder),
    ]
    kept, size = [], len(blocks[-1]) + 200
    for block in blocks[:-1]:
        if block and size + len(block) + 2 <= MAX_CHARACTERS:
            kept.append(block)
            size += len(block) + 2
    return "\n\n".join([*kept, blocks[-1]]) + "\n"


def code(text: object, limit: int = 160) -> str:
    """A value of unknown origin as inline code that no Markdown reader takes for anything else."""
    shown = one_line(text, limit)
    if _SPAN.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{_ACTIVE.sub(lambda match: f'&#{ord(match[0])};', shown)}</code>" if shown else ""


def _head(document: Document) -> str:
    name = f"{document.suite} {document.suite_version}".strip() or "proctor"
    overall = document.overall
    lines = [
        f"### {_MARKS[document.verdict]} Proctor: {document.verdict} · {code(name)}",
        "",
        f"**{overall.passed:,} of {overall.total:,} cells passed** ({percent(overall.rate)})"
        f" · agent {code(document.agent)}",
    ]
    if document.overall_bounds.unresolved:
        bounds = document.overall_bounds
        unresolved = counted(bounds.unresolved, "unresolved cell")
        lines[-1] += f" · {unresolved}: between {percent(bounds.low)} and {percent(bounds.high)}"
    if document.partial:
        lines += ["", "Partial plan: part of the suite's cells was left out, so this can't pass."]
    if document.rules_changed:
        lines += ["", "**The gate's rules are not the ones registered before the results.**"]
    if document.synthetic_only:
        lines += ["", "Synthetic only: no real model produced these results."]
    return "\n".join(lines)


def _reasons(document: Document) -> str:
    return "\n".join(f"- {code(reason, 300)}" for reason in document.reasons[:10])


def _figures(document: Document) -> str:
    rows = [(code(name), _number(document.metrics[name]), _basis(document, name)) for name in document.metrics]
    rows += [(f"slice {code(name)}", percent(rate.rate), _of(rate)) for name, rate in document.by_slice.items()]
    if document.all_runs_pass is not None:
        rate = document.all_runs_pass
        rows.append(("cases that pass every run", percent(rate.rate), _of(rate)))
    if document.do_nothing_floor is not None:
        rate = document.do_nothing_floor
        rows.append(("do-nothing floor", percent(rate.rate), _of(rate)))
    if not rows:
        return ""
    lines = ["| figure | value | of |", "|---|--:|--:|"]
    lines += [f"| {name} | {value} | {of} |" for name, value, of in rows[:_MOST_ROWS]]
    more = f"\n\n{len(rows) - _MOST_ROWS:,} more figures are in the report." if len(rows) > _MOST_ROWS else ""
    return "\n".join(lines) + more


def _of(rate: Rate) -> str:
    return f"{rate.passed:,}/{rate.total:,}"


def _number(value: float | None) -> str:
    if value is None:
        return "unknown"
    return "1.0" if value == 1 else min(f"{value:.4f}", "0.9999")


def _basis(document: Document, name: str) -> str:
    basis = document.metric_basis.get(name)
    if basis is None or basis.denominator is None:
        return "derived" if basis is not None and basis.factors else ""
    return f"{basis.numerator or 0:,}/{basis.denominator:,}"


def _rules(rules: tuple[Rule, ...]) -> str:
    if not rules:
        return ""
    broken = [rule for rule in rules if rule.held != "holds"]
    lines = [
        f"<details><summary>Gate: {len(rules) - len(broken):,} of {counted(len(rules), 'rule')} hold</summary>",
        "",
        "| | rule | figure |",
        "|---|---|--:|",
    ]
    for rule in (*broken, *(rule for rule in rules if rule.held == "holds"))[:_MOST_ROWS]:
        figure = "" if rule.figure is None else f"{rule.figure:.4g}"
        lines.append(f"| {rule.held} | {code(rule.asks)} | {figure} |")
    return "\n".join([*lines, "", "</details>"])


def _cells(document: Document) -> list[str]:
    """One block a cell, so that the last ones can be left out."""
    failed = sum(not cell.passed for cell in document.cells)
    if not failed:
        return []
    worst = worst_cells(document.cells, _MOST_CELLS)
    head = f"#### The worst of {counted(failed, 'cell')} that did not pass" if failed > 1 else "#### What did not pass"
    blocks = [head, *(_cell(cell) for cell in worst)]
    if failed > len(worst):
        blocks.append(f"{failed - len(worst):,} more are in the report.")
    return blocks


def _cell(cell: Cell) -> str:
    lines = [f"- **{code(cell.name)}** {str(cell.end).replace('_', ' ')} {code(cell.detail)}".rstrip()]
    for finding in sorted_findings(cell.findings)[:_MOST_FINDINGS]:
        critical = " **critical**" if finding.critical else ""
        lines.append(f"  - {code(finding.code)}{critical} · {where_text(finding, {})} {code(finding.detail)}".rstrip())
        if finding.has_values:
            lines.append(f"    <br>expected {code(finding.expected)}<br>found {code(finding.found)}")
    if len(cell.findings) > _MOST_FINDINGS:
        lines.append(f"  - {len(cell.findings) - _MOST_FINDINGS:,} more findings")
    return "\n".join(lines)


def _foot(document: Document, folder: str) -> str:
    tier = f"Isolation {code(document.isolation.tier)}. " if document.isolation else ""
    plan = f"Plan {code(visible(document.plan_digest, 80))}. " if document.plan_digest else ""
    command = code(f"proctor show {shlex.quote(folder)}", 300)
    return f"<sub>{tier}{plan}See why: {command}</sub>"
