"""The report as JUnit XML, for CI systems that read nothing else. Pure.

One test case a cell, in a suite named for its slice, and one a rule of the gate. A cell that did not pass is a failure;
one that says nothing of the agent (missing, infrastructure, grader, withheld) is an error. Nothing is ever skipped: a
skipped test reads as fine. Characters that XML 1.0 can't hold are escaped visibly.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from proctor.kinds import Outcome
from proctor.report.cellpage import where_text
from proctor.report.document import Cell, Document, Rule
from proctor.report.values import one_line, visible
from proctor.report.worst import MEANINGS, sorted_findings

__all__ = ["render_junit"]

_ERRORS = frozenset({Outcome.MISSING, Outcome.INFRA_ERROR, Outcome.GRADER_ERROR, Outcome.WITHHELD})
_MOST_FINDINGS = 20
_TEXT = 500


def render_junit(document: Document) -> bytes:
    """The whole document, UTF-8 with its declaration."""
    root = ET.Element("testsuites", name=_text(f"proctor {document.suite} {document.suite_version}".strip()))
    gate = _suite(root, f"{document.suite or 'proctor'} gate", document)
    _properties(gate, document)
    for rule in document.gate_basis:
        _rule(gate, rule)
    _verdict(gate, document)
    by_slice: dict[str, list[Cell]] = {}
    for cell in document.cells:
        by_slice.setdefault(cell.slice, []).append(cell)
    for name, cells in by_slice.items():
        suite = _suite(root, f"{document.suite or 'proctor'}.{name or 'all'}", document)
        for cell in cells:
            _cell(suite, cell)
    for suite in root:
        _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _suite(root: ET.Element, name: str, document: Document) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=_text(name))
    if document.run is not None and document.run.started:
        suite.set("timestamp", _text(document.run.started[:19]))
    return suite


def _properties(suite: ET.Element, document: Document) -> None:
    holder = ET.SubElement(suite, "properties")
    facts = {
        "verdict": document.verdict,
        "candidate": document.agent,
        "run": document.run.id if document.run else None,
        "seed": document.seed,
        "plan_digest": document.plan_digest,
        "gate_digest": document.gate_digest,
        "isolation": document.isolation.tier if document.isolation else None,
        "synthetic_only": str(document.synthetic_only).lower(),
    }
    for name, value in facts.items():
        if value is not None:
            ET.SubElement(holder, "property", name=name, value=_text(str(value)))


def _rule(suite: ET.Element, rule: Rule) -> None:
    case = ET.SubElement(suite, "testcase", classname="gate", name=_text(rule.rule))
    if rule.held == "holds":
        return
    message = f"{rule.asks}: {rule.held}"
    if rule.figure is not None:
        message += f", {rule.figure:g}"
    where = f"cells against it: {', '.join(rule.cells[:20])}" if rule.cells else ""
    kind = "failure" if rule.held == "broken" else "error"
    child = ET.SubElement(case, kind, type="gate", message=_text(message))
    child.text = _text("; ".join(part for part in (rule.note, where) if part), 4 * _TEXT)


def _verdict(suite: ET.Element, document: Document) -> None:
    """The verdict as a case of its own: what a gate says is more than the sum of its rules."""
    case = ET.SubElement(suite, "testcase", classname="gate", name="verdict")
    if document.verdict == "PASS":
        return
    kind = "failure" if document.verdict == "BLOCK" else "error"
    child = ET.SubElement(case, kind, type=document.verdict, message=document.verdict)
    child.text = "\n".join(_text(reason, 4 * _TEXT) for reason in document.reasons)


def _cell(suite: ET.Element, cell: Cell) -> None:
    case = ET.SubElement(suite, "testcase", classname=_text(cell.case_id), name=_text(cell.name))
    if cell.usage.seconds is not None:
        case.set("time", f"{cell.usage.seconds:.3f}")
    if cell.passed:
        return
    kind = "error" if cell.end in _ERRORS else "failure"
    codes = ", ".join(cell.failures) or str(cell.end)
    child = ET.SubElement(case, kind, type=_text(codes), message=_text(f"{cell.end}: {cell.detail or codes}"))
    child.text = "\n".join(_lines(cell))


def _lines(cell: Cell) -> list[str]:
    lines = [f"{cell.end}: {MEANINGS[cell.end]}"]
    for finding in sorted_findings(cell.findings)[:_MOST_FINDINGS]:
        lines.append(_text(f"{finding.code} at {where_text(finding, {})}: {finding.detail}"))
        if finding.has_values:
            lines.append(f"  expected {_value(finding.expected)}")
            lines.append(f"  found {_value(finding.found)}")
    if len(cell.findings) > _MOST_FINDINGS:
        lines.append(f"and {len(cell.findings) - _MOST_FINDINGS:,} more findings in report.json")
    return lines


def _count(suite: ET.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")


def _value(value: object) -> str:
    return _text(one_line(value, _TEXT))


def _text(text: str, limit: int = _TEXT) -> str:
    """Printable characters are all allowed in XML 1.0; the rest is escaped by ``visible``."""
    return visible(text, limit)
