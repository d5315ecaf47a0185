"""Versions and splits of datasets on the disk. Left out: what they mean (``suite.difference``, ``suite.split``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.clock import Clock
from proctor.errors import InvalidEvaluation, Place, UsageError
from proctor.ledger.keys import Signer
from proctor.runner.holdout import SPLIT_FILE, SplitFile, declare_holdout
from proctor.runner.records import load_jsonl
from proctor.suite.difference import DatasetDifference, difference
from proctor.suite.meta import load_meta, meta_path
from proctor.suite.split import is_held_out

__all__ = ["compare_versions", "rows_sha256", "split_dataset"]

DEVELOPMENT, HOLDOUT = "development", "holdout"


def rows_sha256(rows: list[dict[str, Any]]) -> str:
    """SHA-256 over Python's ``json.dumps(rows, sort_keys=True, ensure_ascii=False)``, as in reports."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def compare_versions(old: Path, new: Path) -> DatasetDifference:
    """What changed between two versions. Raises ``InvalidEvaluation`` for a file that can't be read."""
    meta = load_meta(new)
    before, after = _by_id(old), _by_id(new)
    _check_known(new, meta, after)
    return difference(before, after, meta)


def split_dataset(
    dataset: Path, out: Path, *, salt: str, share: float, budget: int, workspace: Path, signer: Signer, clock: Clock
) -> SplitFile:
    """Write ``development.jsonl``, ``holdout.jsonl``, their sidecars and ``split.json`` into a new folder, and declare
    the holdout in the workspace. Raises ``UsageError`` where one part would be empty."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("the folder is not empty", place=Place(str(out)), fix="choose another --out")
    rows, meta = _by_id(dataset), load_meta(dataset)
    _check_known(dataset, meta, rows)
    groups = {case: _group(case, row, meta) for case, row in rows.items()}
    held = {group for group in set(groups.values()) if is_held_out(salt, group, share)}
    parts: dict[str, list[dict[str, Any]]] = {DEVELOPMENT: [], HOLDOUT: []}
    for case, row in rows.items():
        parts[HOLDOUT if groups[case] in held else DEVELOPMENT].append(row)
    for name, part in parts.items():
        if not part:
            raise UsageError(
                f"the {name} part would be empty",
                place=Place(str(dataset)),
                expected="groups on both sides",
                found=f"{len(set(groups.values()))} groups",
                fix="choose another --holdout share, or more groups",
            )
    split = SplitFile(
        v=1,
        salt=salt,
        holdout_share=share,
        budget=budget,
        source_sha256=rows_sha256(list(rows.values())),
        development_sha256=rows_sha256(parts[DEVELOPMENT]),
        holdout_sha256=rows_sha256(parts[HOLDOUT]),
        groups={HOLDOUT: len(held), DEVELOPMENT: len(set(groups.values()) - held)},
        cases={name: len(part) for name, part in parts.items()},
    )
    declare_holdout(workspace, split.holdout_sha256, budget, signer=signer, clock=clock)
    out.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        path = out / f"{name}.jsonl"
        _write(path, part)
        known = [msgspec.to_builtins(meta[row["id"]]) for row in part if row["id"] in meta]
        if known:
            _write(meta_path(path), known)
    (out / SPLIT_FILE).write_bytes(msgspec.json.format(msgspec.json.encode(split), indent=1) + b"\n")
    return split


def _group(case: str, row: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    """The sidecar's group, or the row's own; a case without one is its own group."""
    entry = meta.get(case)
    group = (entry.group if entry is not None else None) or row.get("group")
    return f"group\0{group}" if isinstance(group, str) and group else f"case\0{case}"


def _by_id(path: Path) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for line, row in enumerate(load_jsonl(path), 1):
        case = row.get("id")
        place = Place(str(path), line, "id")
        if not isinstance(case, str) or not case.strip():
            raise InvalidEvaluation(
                "a case without an id", place=place, expected="a text", found=case, fix="give it one"
            )
        if case in rows:
            raise InvalidEvaluation(
                "duplicate case", place=place, expected="each id once", found=case, fix="rename one of the two"
            )
        rows[case] = row
    return rows


def _check_known(dataset: Path, meta: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    for line, case in enumerate(meta, 1):
        if case not in rows:
            raise InvalidEvaluation(
                "unknown case in the sidecar",
                place=Place(str(meta_path(dataset)), line, "id"),
                expected="the id of a case of the dataset",
                found=case,
                fix="remove the row, or restore the case",
            )


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")
