"""A run's check as people read it. Pure."""

from __future__ import annotations

from proctor.ledger.checks import EntryRule, LogCheck, Trust
from proctor.verification.cell import CellProof
from proctor.verification.model import RunCheck

__all__ = ["cell_text", "log_text", "run_text"]

_MOST = 20
_REGRADE = {
    "done": "done: grades and report come out the same from the record",
    "not asked": "not asked: that the grades follow from the record was not checked",
}
_TRUST = {
    Trust.UNSIGNED: "unsigned: no believed key stands behind this",
    Trust.SELF_SIGNED: "self-signed: whoever holds the signing key could have made all of it",
    Trust.WITNESSED: "witnessed",
}


def run_text(check: RunCheck) -> str:
    """All that was found, the two answers first."""
    state = "closed" if check.is_closed else "never closed"
    cells = f"{check.graded} of {check.planned} planned cells graded"
    lines = [
        f"integrity     {check.integrity.value}",
        f"completeness  {check.completeness.value}: {cells}, run {state}",
        f"trust         {_TRUST[check.trust]}{_by(check.witnesses)}",
        f"regrade       {_REGRADE.get(check.regrade, check.regrade)}",
        f"run           {check.run_id or 'unknown'}, {check.n_events} events",
        f"log           {check.origin or 'unknown origin'}, {check.size} entries, root {check.root}",
    ]
    lines += _section("broken", [one.message for one in check.findings])
    lines += _section("not graded", [f"{gap.cell}: {gap.state}" for gap in check.gaps])
    lines += _section("note", list(check.notes))
    return "\n".join(lines)


def log_text(check: LogCheck, rule: EntryRule) -> str:
    """What checking a bare log gave."""
    what = (
        "entries of this program" if rule is EntryRule.TYPED else "canonical entries; what they mean was not looked at"
    )
    lines = [
        f"integrity     {'broken' if check.findings else 'intact'}",
        f"trust         {_TRUST[check.trust]}{_by(check.witnesses)}",
        f"log           {check.origin or 'unknown origin'}, {check.size} {what}, root {check.root.hex()}",
    ]
    if check.is_open:
        lines.append(f"open          never closed; {check.signed_size} entries signed, {check.torn_bytes} torn bytes")
    lines += _section("broken", [one.message for one in check.findings])
    return "\n".join(lines)


def _by(witnesses: tuple[str, ...]) -> str:
    return f" by {', '.join(witnesses)}" if witnesses else ""


def _section(title: str, items: list[str]) -> list[str]:
    lines = [f"{title:<13} {item}" for item in items[:_MOST]]
    if len(items) > _MOST:
        lines.append(f"{title:<13} … and {len(items) - _MOST} more (--json lists all)")
    return lines


def cell_text(proof: CellProof) -> str:
    """A cell's proof: what is proven, and how to check it by hand."""
    lines = [f"cell          {proof.cell}: {proof.outcome}, attempt {proof.attempt or 'none'}"]
    for title, one in (("grade", proof.grade), ("first entry", proof.start), ("last entry", proof.end)):
        if one is None:
            continue
        lines.append(f"{title:<13} entry {one.index} of {one.size} in {one.log}")
        lines.append(f"  entry       {one.entry}")
        lines.append(f"  leaf        {one.leaf}")
        lines += [f"  proof       {value}" for value in one.hashes]
        lines.append(f"  root        {one.root}")
    if proof.grade.checkpoint:
        lines += ["signed head", *(f"  {line}" for line in proof.grade.checkpoint.rstrip("\n").split("\n"))]
    return "\n".join(lines)
