"""The files of a run's folder against what its log says of them: each named, sized and hashed; nothing extra, no links.

Reads the folder; every fault is a finding with the file's path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from proctor.codec.canonical import digest_bytes
from proctor.ledger.checks import Finding
from proctor.ledger.closing import LEDGER_NAME, SEAL_NAME, digest_of, walk
from proctor.ledger.entries import FileDigest
from proctor.verification.run_log import RunLog
from proctor.verification.worker_log import AttemptSeen

__all__ = ["check_cells", "check_digest", "check_files", "check_plain", "check_states", "check_traces"]

_MAY_BE_EMPTY = frozenset(("states", "texts", "traces"))


def check_plain(run: Path) -> list[Finding]:
    """Links and special files in the whole run; empty folders outside ``ledger/`` (there the log's check looks)."""
    findings = []
    for entry in walk(run):
        if not entry.is_file(follow_symlinks=False):
            name = Path(entry.path).relative_to(run).as_posix()
            findings.append(Finding.at(name, "special_file", "a link or special file", expected="a plain file"))
    for folder in sorted(p for p in run.rglob("*") if p.is_dir() and not p.is_symlink()):
        name = folder.relative_to(run).as_posix()
        in_ledger = name.startswith(f"{LEDGER_NAME}/")
        if not in_ledger and name not in _MAY_BE_EMPTY and not any(folder.iterdir()):
            findings.append(Finding.at(name, "extra_file", "an empty folder that no run has"))
    return findings


def check_files(run: Path, listed: Iterable[FileDigest]) -> list[Finding]:
    """A closed run's files against the list at the end of its log."""
    findings = []
    known = {file.path: file for file in listed}
    present = {
        Path(entry.path).relative_to(run).as_posix(): Path(entry.path)
        for entry in walk(run, skip=frozenset((LEDGER_NAME, SEAL_NAME)))
        if entry.is_file(follow_symlinks=False)
    }
    for name in sorted(known.keys() | present.keys()):
        if name not in present:
            findings.append(Finding.at(name, "missing_file", "the file is missing", expected="as listed in run.end"))
        elif name not in known:
            findings.append(Finding.at(name, "extra_file", "the file was not there when the run was closed"))
        else:
            size, digest = digest_of(present[name])
            if (size, digest) != (known[name].bytes, known[name].sha256):
                findings.append(
                    Finding.at(
                        name,
                        "changed_file",
                        "the file is not as it was when the run was closed",
                        expected=f"{known[name].bytes} bytes, sha256 {known[name].sha256[:16]}…",
                        found=f"{size} bytes, sha256 {digest[:16]}…",
                    )
                )
    return findings


def check_digest(run: Path, name: str, expected: str, code: str) -> list[Finding]:
    """A file whose digest an entry of the log holds."""
    path = run / name
    if not path.is_file():
        return [Finding.at(name, "missing_file", "the file is missing", expected=expected)]
    found = digest_bytes(path.read_bytes())
    if found == expected:
        return []
    return [Finding.at(name, code, "the file is not the one in the log", expected=expected, found=found)]


def check_cells(run: Path, log: RunLog) -> list[Finding]:
    """``cells.jsonl``: a row a graded cell, in the log's order, with the digest that the log holds."""
    path = run / "cells.jsonl"
    rows = path.read_bytes().split(b"\n") if path.is_file() else [b""]
    findings = []
    for line, (cell, (seq, grade)) in enumerate(log.grades.items(), 1):
        found = digest_bytes(rows[line - 1]) if line <= len(rows) - 1 else "no row"
        if found != grade.gradeDigest:
            findings.append(
                Finding.at(
                    "cells.jsonl",
                    "grade_differs",
                    f"the row of cell {cell} is not the one in the log",
                    field=f"line {line}",
                    expected=f"{grade.gradeDigest} (entry {seq})",
                    found=found,
                )
            )
    if log.is_ended and (len(rows) - 1 != len(log.grades) or rows[-1]):
        findings.append(
            Finding.at(
                "cells.jsonl",
                "rows_differ",
                "rows without a grade in the log",
                expected=len(log.grades),
                found=len(rows) - 1,
            )
        )
    return findings


def check_traces(run: Path, cells: Iterable[str], attempts: Iterable[AttemptSeen]) -> tuple[list[Finding], list[str]]:
    """Each graded cell's trace, made again from log and texts. ``(findings, cells whose texts are withheld)``."""
    by_cell: dict[str, list[AttemptSeen]] = {}
    for attempt in attempts:
        if attempt.ended is not None:
            by_cell.setdefault(attempt.cell, []).append(attempt)
    findings, withheld = [], []
    for cell in cells:
        seen = by_cell.get(cell, [])
        rows = [row for one in seen for row in one.rows or ()]
        if any(one.rows is None for one in seen):
            withheld.append(cell)
            continue
        case_id, _, number = cell.rpartition("/")
        name = f"traces/{case_id}.{number}.jsonl"
        path = run / name
        lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
        found = [hashlib.sha256(line).digest() for line in lines]
        if found != rows:
            at = next(
                (i for i, (a, b) in enumerate(zip(found, rows, strict=False)) if a != b), min(len(found), len(rows))
            )
            findings.append(
                Finding.at(
                    name,
                    "trace_differs",
                    "the trace is not that of the ledger",
                    field=f"line {at + 1}",
                    expected=f"{len(rows)} rows, as made from {seen[0].log if seen else 'the ledger'}",
                    found=f"{len(found)} rows",
                )
            )
    return findings, withheld


def check_states(run: Path, attempts: Iterable[AttemptSeen]) -> list[Finding]:
    """Every state file has the digest that is its name, and every final state is there."""
    findings = []
    present = set()
    for path in sorted((run / "states").glob("*")):
        if path.name.startswith(".") and path.name.endswith(".new"):
            continue  # half-written when a crash came; a closed run has none, since its list of files is whole
        present.add(path.name)
        if path.is_file() and f"{digest_of(path)[1]}.sqlite" != path.name:
            findings.append(
                Finding.at(f"states/{path.name}", "state_differs", "the state is not the one it is named for")
            )
    for attempt in attempts:
        for digest in attempt.states if attempt.ended is not None else ():
            if f"{digest}.sqlite" not in present:
                findings.append(
                    Finding.at(
                        f"states/{digest}.sqlite",
                        "missing_file",
                        f"the final state of attempt {attempt.name} is missing",
                    )
                )
    return findings
