"""A comparison as people read it, in 80 columns of plain text. Pure."""

from __future__ import annotations

import textwrap
from typing import Final

from proctor.comparison.model import CaseChange, CaseTable, Comparison, Costs, Side, SliceDifference
from proctor.errors import shorten
from proctor.kinds import Verdict
from proctor.stats.cluster import CannotTell, Interval
from proctor.stats.paired import Difference

__all__ = ["render"]

WIDTH: Final = 80
_CASES: Final = 5
_SLICES: Final = 8


def render(comparison: Comparison, *, cases: int = _CASES) -> str:
    """The whole answer, first line first: the verdict. ``cases`` of each kind are listed."""
    c = comparison
    blocks = [
        [*c.stamps] and [_wrap(f"!! {shorten(stamp, 400)}", "   ") for stamp in c.stamps],
        [_wrap(_headline(c), "  ")],
        _table(c),
        _flips(c, cases),
        _slices(c),
        _outlook(c),
        _costs(c),
        [_wrap(f"note: {shorten(note, 400)}", "  ") for note in c.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _headline(c: Comparison) -> str:
    value, best = c.difference.value, c.difference_best.value
    if c.outcome is Verdict.INVALID:
        return "INVALID: no answer can be had from these results."
    change = _change(value, best)
    interval = c.interval
    unsure = f"95% interval {_points(interval)}" if isinstance(interval, Interval) else interval.reason
    margin = f" than {_share(c.margin)} points" if c.margin is not None else ""
    if c.verdict == "better":
        return f"BETTER: {shorten(c.candidate.name)} is better than {shorten(c.baseline.name)}: {change}, {unsure}."
    if c.verdict == "worse":
        return f"WORSE: {shorten(c.candidate.name)} is worse than {shorten(c.baseline.name)}: {change}, {unsure}."
    if c.verdict == "not worse":
        return f"NOT WORSE by more{margin}: {change}, {unsure}."
    bound = "0" if c.margin is None else f"the margin of -{_share(c.margin)} points"
    why = "" if isinstance(interval, CannotTell) else f" spans {bound}"
    return f"CAN'T TELL: {change}, {unsure}{why}."


def _change(value: float | None, best: float | None) -> str:
    if value is None or best is None:
        return "no cell"
    if value != best:
        return f"the rate changed by {_signed(value)} to {_signed(best)} points"
    if value == 0:
        return "the two rates are equal"
    return f"the rate {'rose' if value > 0 else 'fell'} by {_share(abs(value))} points"


def _table(c: Comparison) -> list[str]:
    size = f"{_many(c.planned, 'planned cell')} of {_many(c.cases, 'case')}"
    unit = f"in {_many(c.clusters, 'independent group')}" if c.grouped else "; the case is the independent unit"
    lines = [
        f"{size} {unit}".replace(" ;", ";"),
        "",
        f"{'':12}{'passed' if c.binary else 'points':>15}{'rate':>8}   {'95% interval':18}{'missing':>8}{'unknown':>9}",
        _side("baseline", c.baseline),
        _side("candidate", c.candidate),
        _difference_line(c),
    ]
    if c.baseline.low != c.baseline.high or c.candidate.low != c.candidate.high:
        lines.append("  (cells without a known end counted as failed … as passed)")
    if c.mcnemar is not None:
        m = c.mcnemar
        lines.append(
            f"  McNemar exact: {m.only_candidate} only the candidate, {m.only_baseline} only the baseline, {_p(m.p)}"
        )
    if c.seed is not None:
        lines.append(f"  cluster bootstrap: {c.resamples:,} resamples, seed {c.seed}")
    return lines


def _side(label: str, side: Side) -> str:
    passed = _count(side.low.passed)
    if side.high.passed != side.low.passed:
        passed += f"-{_count(side.high.passed)}"
    low, high = side.low.rate, side.high.rate
    rate = "none" if low is None or high is None else f"{low:.1%}" if low == high else f"{low:.0%}-{high:.0%}"
    ends = side.low.interval, side.high.interval
    interval = "can't tell"
    if not isinstance(ends[0], CannotTell) and not isinstance(ends[1], CannotTell):
        interval = f"{ends[0].low:.1%} to {ends[1].high:.1%}"
    total = f"{passed}/{side.low.cells:,}"
    return f"  {label:10}{total:>15}{rate:>8}   {interval:18}{side.missing:>8,}{side.unresolved + side.unknown:>9,}"


def _difference_line(c: Comparison) -> str:
    value, best, interval = c.difference.value, c.difference_best.value, c.interval
    if value is None or best is None:
        return "  difference  none"
    shown = f"{_signed(value)}" if value == best else f"{_signed(value)} to {_signed(best)}"
    ends = "can't tell" if isinstance(interval, CannotTell) else _points(interval)
    p = "p can't be told" if isinstance(c.difference.p, CannotTell) else _p(c.difference.p)
    return f"  difference {shown:>13} points   {ends:18}  {p}"


def _flips(c: Comparison, cases: int) -> list[str]:
    f = c.flips
    words = ("fixed", "broken") if c.binary else ("rose", "fell")
    line = (
        f"cells: {f.fixed:,} {words[0]}, {f.broken:,} {words[1]}, {f.both:,} passed by both, {f.neither:,} by neither"
    )
    if f.unresolved:
        line += f", {f.unresolved:,} unknown"
    lines = [_wrap(line, "  ")]
    lines += _changed(f"{words[1]} most", c.broken, cases)
    lines += _changed(f"{words[0]} most", c.fixed, cases)
    return lines


def _changed(title: str, table: CaseTable, cases: int) -> list[str]:
    rows = [row for row in table.rows if row.before != row.after] or list(table.rows)
    if not rows:
        return []
    shown = ", ".join(_case(row) for row in rows[:cases])
    more = f", and {len(rows) - cases:,} more" if len(rows) > cases else ""
    return [_wrap(f"  {title}: {shown}{more}", "    ")]


def _case(row: CaseChange) -> str:
    place = f" [{shorten(row.slice, 24)}]" if row.slice else ""
    return f"{shorten(row.case, 40)}{place} {_count(row.before)}→{_count(row.after)} of {row.runs}"


def _slices(c: Comparison) -> list[str]:
    if not c.slices:
        return []
    method = "Holm" if c.adjustment == "holm" else "Benjamini-Hochberg"
    tested = sum(item.adjusted_p is not None for item in c.slices)
    lines = [f"slices, worst first (p {method}-adjusted over {tested}):"]
    lines += [_slice(item) for item in c.slices[:_SLICES]]
    if len(c.slices) > _SLICES:
        lines.append(f"  and {len(c.slices) - _SLICES:,} more in --json")
    return lines


def _slice(item: SliceDifference) -> str:
    name = shorten(item.slice, 16)
    p = "p can't be told" if item.adjusted_p is None else _p(item.adjusted_p)
    return (
        f"  {name:17}{item.before:>6.1%} → {item.after:>6.1%} {_signed(item.difference.value or 0):>7}  "
        f"{_ends(item.difference):18}  {p}"
    )


def _ends(difference: Difference) -> str:
    return "can't tell" if isinstance(difference.interval, CannotTell) else _points(difference.interval)


def _outlook(c: Comparison) -> list[str]:
    o = c.outlook
    unit = "groups" if c.grouped else "cases"
    if o.detectable is None:
        return [f"power: {o.question}"]
    text = (
        f"power: {o.independent:,} independent {unit} find a true difference of {_share(o.detectable)} points "
        "in 80 of 100 such comparisons"
    )
    if c.outcome is Verdict.UNDECIDED:
        if o.needed is None:
            text += "; the difference seen lies on the bound itself, so more cells alone would not settle it"
            text += ": declare a --margin that you could live with" if c.margin is None else ""
        else:
            text += f"; if the difference seen is the true one, about {o.needed:,} {unit} settle {o.question}"
    return [_wrap(text, "  ")]


def _costs(c: Comparison) -> list[str]:
    if c.costs_note:
        return [] if c.costs_note.startswith("no cell") else [_wrap(f"costs: {c.costs_note}", "  ")]
    return [_wrap(_cost(item), "  ") for item in c.costs]


def _cost(item: Costs) -> str:
    change = f"{item.after / item.before - 1:+.1%}" if item.before else "from nothing"
    text = f"{item.what} a cell: {item.before:,.4g} → {item.after:,.4g} ({change})"
    if not isinstance(item.interval, CannotTell):
        text += f", difference {item.interval.low:+,.4g} to {item.interval.high:+,.4g}"
    if item.cells != item.planned:
        text += f"; known in both for {item.cells:,} of {item.planned:,} cells"
    if item.per_pass_before is not None and item.per_pass_after is not None:
        text += f"; a pass costs {item.per_pass_before:,.4g} → {item.per_pass_after:,.4g}"
    return text


def _points(interval: Interval) -> str:
    return f"{_signed(interval.low)} to {_signed(interval.high)}"


def _signed(share: float) -> str:
    text = f"{share * 100:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _share(share: float | None) -> str:
    return "?" if share is None else f"{share * 100:.2g}" if share < 0.1 else f"{share * 100:.1f}"


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _p(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def _wrap(text: str, indent: str) -> str:
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.fill(
        text.lstrip(),
        WIDTH,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
