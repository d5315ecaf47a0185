"""The report as plain text of at most 80 columns: the scorecard, and the progress line while a run goes on. Pure.

Text from agents and worlds is shown with everything unprintable escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import shorten

__all__ = ["incident", "progress_line", "scorecard"]

_WIDTH = 80
_MOST_FINDINGS = 12


def progress_line(done: int, planned: int, cell: str, outcome: str) -> str:
    """``[#####     ]  3/6  R07/3 passed``."""
    width = 24
    filled = width * done // planned if planned else width
    return f"[{'#' * filled}{' ' * (width - filled)}] {done}/{planned}  {shorten(cell, 30)} {outcome}"


def scorecard(report: Mapping[str, Any], *, folder: str, brief: bool = False) -> str:
    """What a person reads at the end of a run: verdict, why, figures with their denominators, where to look next."""
    overall = report["overall"]
    verdict = f"{report['verdict']}  {overall['passed']}/{overall['total']} cells passed"
    if brief:
        return verdict
    lines = [
        "",
        f"  {verdict}",
        f"  {report['suite']} {report['suite_version']} · {shorten(report['candidate']['agent'], 50)}"
        f" · seed {report['seed']}",
        "",
        *_reasons(report["reasons"]),
        *_metrics(report),
        *_slices(report),
        *_failures(report),
        *_findings(report["cells"]),
        f"  do-nothing floor   {_rate(report['do_nothing_floor'])}",
        f"  isolation          {report['isolation']['tier']}: {report['isolation']['claim']}"[:_WIDTH],
        f"  report             {folder}/report.html",
        f"  look closer        proctor show {folder}",
        f"  check the record   proctor verify {folder}",
        "",
    ]
    return "\n".join(lines)


def incident(report: Mapping[str, Any], *, wanted: Sequence[str], namespace: str) -> str:
    """Verdict and the first finding with one of the ``wanted`` codes (any finding, if none has): where, what, and the
    expected and found values."""
    codes = {f"{namespace}.{code}" for code in wanted} | set(wanted)
    rows = [(cell, finding) for cell in report["cells"] for finding in cell["findings"]]
    cell, finding = next(((c, f) for c, f in rows if f["code"] in codes), rows[0] if rows else (None, None))
    head = f"      {report['verdict']}  {', '.join(report['failure_counts']) or 'no reason code'}"
    if finding is None or cell is None:
        return "\n".join(line[:_WIDTH] for line in [head, *(f"      {reason}" for reason in report["reasons"][:2])])
    where = f"cycle {finding['cycle']}, " if finding["cycle"] else ""
    steps = f"event {', '.join(map(str, finding['steps'][:4]))}: " if finding["steps"] else ""
    lines = [head, f"      {where}{steps}{shorten(finding['detail'] or finding['code'], 66)}"]
    if finding["expected"] is not None or finding["found"] is not None:
        lines.append(f"      expected {shorten(finding['expected'], 60)}; found {shorten(finding['found'], 60)}")
    return "\n".join(line[:_WIDTH] for line in lines)


def _rate(rate: Mapping[str, Any] | None) -> str:
    if rate is None:
        return "unknown"
    share = "no cells" if rate["rate"] is None else f"{rate['rate']:.1%}"
    return f"{rate['passed']}/{rate['total']} ({share})"


def _reasons(reasons: Sequence[str]) -> list[str]:
    if not reasons:
        return []
    lines = ["  why"]
    for reason in reasons[:10]:
        first, *rest = _wrap(reason, _WIDTH - 6)
        lines += [f"    - {first}", *(f"      {line}" for line in rest)]
    return [*lines, ""]


def _metrics(report: Mapping[str, Any]) -> list[str]:
    if not report["metrics"]:
        return []
    lines = ["  metric                  value     of"]
    for name, value in report["metrics"].items():
        basis = report["metric_basis"][name]
        shown = "unknown" if value is None else f"{value:.6g}"
        of = f"{basis['numerator']}/{basis['denominator']}" if basis.get("denominator") else ""
        lines.append(f"  {shorten(name, 22):<22}  {shown:<8}  {of}")
    return [*lines, ""]


def _slices(report: Mapping[str, Any]) -> list[str]:
    if len(report["by_slice"]) < 2:
        return []
    rows = [f"  {shorten(name, 30):<30}  {_rate(rate)}" for name, rate in report["by_slice"].items()]
    return ["  slice", *rows, ""]


def _failures(report: Mapping[str, Any]) -> list[str]:
    if not report["failure_counts"]:
        return []
    rows = []
    for code, count in report["failure_counts"].items():
        meaning = report["reason_codes"].get(code, "")
        rows.append(f"  {count:>6}  {code}  {meaning}"[:_WIDTH])
    return ["   cells  reason", *rows, ""]


def _findings(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [(f"{cell['case_id']}/{cell['run']}", finding) for cell in cells for finding in cell["findings"]]
    lines = []
    for cell, finding in rows[:_MOST_FINDINGS]:
        where = f"{cell}" + (f" cycle {finding['cycle']}" if finding["cycle"] else "")
        steps = ",".join(map(str, finding["steps"][:4]))
        lines.append(
            f"  {where}{f' step {steps}' if steps else ''}: {finding['code']} {shorten(finding['detail'], 60)}"
        )
        if finding["expected"] is not None or finding["found"] is not None:
            lines.append(f"      expected {shorten(finding['expected'], 60)}")
            lines.append(f"      found    {shorten(finding['found'], 60)}")
    if len(rows) > _MOST_FINDINGS:
        lines.append(f"  … and {len(rows) - _MOST_FINDINGS} more findings in the report")
    return [*lines, ""] if lines else []


def _wrap(text: str, width: int) -> list[str]:
    words, lines, line = text.split(), [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]
