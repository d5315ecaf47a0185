"""``proctor reasons [CODE]``: the reason codes, what each means and who mends it."""

from __future__ import annotations

import contextlib

import click
import msgspec

from proctor.cli.terminal import style_for
from proctor.codec.models import nearest
from proctor.errors import UsageError
from proctor.grade.host import GraderProcess
from proctor.grade.registry import REASONS, Owner, Reason
from proctor.report.style import Style
from proctor.report.values import wrap
from proctor.suite.load import load_suite

__all__ = ["reasons"]

_WIDTH = 80


@click.command()
@click.argument("code", required=False)
@click.option("--suite", help="Also the codes that this suite's graders declare.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def reasons(code: str | None, suite: str | None, as_json: bool) -> int:
    """List the reason codes, or explain CODE: what it means, an example, and who mends it."""
    known = {**REASONS, **_declared(suite)}
    chosen = list(known.values()) if code is None else [_find(code, known)]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(chosen), indent=1))
        return 0
    style = style_for()
    click.echo(_table(chosen, style) if code is None else _one(chosen[0], style))
    return 0


def _declared(suite: str | None) -> dict[str, Reason]:
    if suite is None:
        return {}
    with contextlib.closing(GraderProcess(load_suite(suite).folder)) as graders:
        return {
            entry.code: Reason(
                code=entry.code,
                meaning=entry.meaning,
                example="one such cell blocks, whatever the rates say" if entry.critical else "",
                owner=Owner.AGENT,
            )
            for entry in graders.codes
        }


def _find(code: str, known: dict[str, Reason]) -> Reason:
    if code in known:
        return known[code]
    near = nearest(code, known)
    raise UsageError(
        f"there is no reason code {code!r}",
        expected="a code that 'proctor reasons' lists, or a suite's with --suite",
        found=code,
        fix=f"did you mean {near!r}?" if near else "a suite's own codes need --suite SUITE",
    )


def _table(entries: list[Reason], style: Style) -> str:
    width = max(len(entry.code) for entry in entries) + 2
    lines = []
    for entry in entries:
        room = _WIDTH - width
        first, *rest = wrap(entry.meaning, room) if room > 30 else ["", *wrap(entry.meaning, _WIDTH - 4)]
        lines.append(f"{style.bold(entry.code)}{' ' * (width - len(entry.code))}{first}".rstrip())
        lines += [f"{' ' * (width if room > 30 else 4)}{line}" for line in rest]
    return "\n".join(lines)


def _one(entry: Reason, style: Style) -> str:
    lines = [style.bold(entry.code), *(f"  {line}" for line in wrap(entry.meaning, _WIDTH - 2))]
    if entry.example:
        lines.append(f"  for example: {entry.example}")
    return "\n".join([*lines, f"  who mends it: {entry.owner}"])
