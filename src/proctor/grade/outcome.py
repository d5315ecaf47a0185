"""``grade_outcome`` and ``grade_links``: the case's final status, queue, outstanding items and links against its key.

Pure, usable alone; nothing here knows a particular suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.grade.casefile import CaseFile, FinalState, case_file, layout_of
from proctor.grade.keys import Key, read_key, required
from proctor.grade.model import Finding, Grade
from proctor.suite.layout import Layout

__all__ = ["grade_links", "grade_outcome"]


def grade_outcome(final_state: FinalState, key: Key | Mapping[str, Any], layout: Layout | None = None) -> Grade:
    """``wrong_status``, ``false_complete``, ``false_incomplete``, ``wrong_queue``, ``not_routed``, ``missing_item``,
    ``extra_item``. ``final_state`` as in ``grade.casefile``. Raises ``SuiteError`` for a key or layout that is
    wrong."""
    right = read_key(key)
    names = layout_of(right, layout)
    file = case_file(final_state, right, layout)
    findings = [*_status(file, right, names), *_queue(file, right, names), *_items(file, right, names)]
    return Grade(grader="outcome", findings=tuple(findings))


def _status(file: CaseFile, key: Key, names: Layout) -> Iterator[Finding]:
    expected, items = required(key.status, "status"), required(key.outstanding, "outstanding")
    if file.status == expected:
        return
    code, detail = "wrong_status", "the status differs" if file.exists else "there is no such case"
    if file.status == names.complete_status and items:
        code, detail = "false_complete", f"complete, while {len(items)} items are outstanding"
    elif expected == names.complete_status and file.status == names.incomplete_status:
        code, detail = "false_incomplete", "nothing is outstanding"
    yield Finding(code=code, detail=detail, field=names.status, expected=expected, found=file.status)


def _queue(file: CaseFile, key: Key, names: Layout) -> Iterator[Finding]:
    expected = required(key.queue, "queue")
    if file.queue == expected:
        return
    code = "not_routed" if file.queue is None else "wrong_queue"
    detail = "never routed" if file.queue is None else "not to be routed" if expected is None else "the queue differs"
    yield Finding(code=code, detail=detail, field=names.queue, expected=expected, found=file.queue)


def _items(file: CaseFile, key: Key, names: Layout) -> Iterator[Finding]:
    wanted, there = Counter(required(key.outstanding, "outstanding")), Counter(file.outstanding)
    field = names.outstanding if isinstance(names.outstanding, str) else names.outstanding.table
    for item in sorted((wanted - there).elements()):
        yield Finding(code="missing_item", detail=f"{item} isn't noted", field=field, expected=item, found=None)
    for item in sorted((there - wanted).elements()):
        detail = f"{item} is noted twice" if item in wanted else f"{item} isn't outstanding"
        yield Finding(code="extra_item", detail=detail, field=field, expected=None, found=item)


def grade_links(final_state: FinalState, key: Key | Mapping[str, Any], layout: Layout | None = None) -> Grade:
    """``missing_duplicate_link``, ``wrong_duplicate_link`` (a case linked as duplicate that is none),
    ``missing_prior_link``, ``extra_link`` (any other link that the key doesn't have, or one made twice)."""
    right = read_key(key)
    names = layout_of(right, layout)
    field = names.links if isinstance(names.links, str) else names.links.table
    wanted = Counter(required(right.links, "links"))
    there = Counter(case_file(final_state, right, layout).links)
    missing, extra = sorted((wanted - there).elements()), sorted((there - wanted).elements())
    findings = []
    lost = [link.target for link in missing if link.kind == names.duplicate_kind]
    for link in extra:
        wrong = link.kind == names.duplicate_kind and link not in wanted
        findings.append(
            Finding(
                code="wrong_duplicate_link" if wrong else "extra_link",
                detail=f"{link.kind} {link.target}",
                field=field,
                expected=lost.pop(0) if wrong and lost else None,
                found=link.target,
            )
        )
    for link in missing:
        if link.kind == names.duplicate_kind:
            if link.target not in lost:
                continue  # named above, as what a wrong link should have been
            code = "missing_duplicate_link"
        else:
            code = "missing_prior_link"
        findings.append(
            Finding(code=code, detail=f"{link.kind} {link.target}", field=field, expected=link.target, found=None)
        )
    return Grade(grader="links", findings=tuple(findings))
