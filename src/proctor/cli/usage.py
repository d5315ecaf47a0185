"""``proctor usage``: reduce a manifest and its records; import what providers and SDKs report.

Left out: every judgement (``proctor.usage``).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from proctor.codec.json_strict import parse_json
from proctor.errors import InputError, Place
from proctor.report.spent import spent_text
from proctor.usage.faults import AccountingError
from proctor.usage.imports import FORMATS, import_files
from proctor.usage.load import draw_files, reduce_files

__all__ = ["usage"]

_CELL = ("case_id", "run", "attempts", "usage")


@click.group()
def usage() -> None:
    """What a run really spent: tokens and requests, or "unknown"."""


@usage.command("reduce")
@click.option("--manifest", required=True, type=click.Path(), help="The sealed list of attempts, runs and checkpoints.")
@click.option("--records", required=True, type=click.Path(), help="The usage snapshots, a JSON list.")
@click.option("--chains", is_flag=True, help="Also draw each run's chain (80 → 130) on standard error.")
@click.pass_context
def reduce_command(context: click.Context, manifest: str, records: str, chains: bool) -> None:
    """Reduce MANIFEST and RECORDS to totals: one line of JSON.

    Exit code 0: valid and within the gate; 1: valid, but an attempt failed or a budget is exceeded; 2: broken or
    unreadable evidence (still JSON, with null totals).
    """
    result = reduce_files(manifest, records)
    _print(result)
    if chains and result["accounting_valid"]:
        click.echo(draw_files(manifest, records), err=True)
    context.exit(2 if not result["accounting_valid"] else 0 if result["gate_pass"] else 1)


@usage.command("import")
@click.option("--from", "source", required=True, type=click.Choice(FORMATS), help="Whose usage the files hold.")
@click.option("--independent", is_flag=True, help="The files are runs of their own, not resumes of one run.")
@click.option(
    "--out", type=click.Path(file_okay=False), help="Also write usage.manifest.json and usage.records.json here."
)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.pass_context
def import_command(
    context: click.Context, source: str, independent: bool, out: str | None, files: tuple[str, ...]
) -> None:
    """Read what providers or SDKs report in FILES: one line of JSON with sdk_reported and verified counts.

    A provider's file holds a usage object, a response with one, or a list of these. Several openai.agents_sdk files are
    resumes of one run in this order, unless --independent. Exit code 0: verified; 1: reported only; 2: unusable.
    """
    try:
        outcome = import_files(source, files, independent=independent, out=None if out is None else Path(out))
    except AccountingError as error:
        outcome = {"format": source, "sdk_reported": None, "verified": None}
        outcome["errors"] = [{"code": error.code, "detail": error.detail}]
    _print(outcome)
    context.exit(2 if outcome["errors"] else 0 if outcome["verified"] is not None else 1)


@usage.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def show_command(run: Path, as_json: bool) -> None:
    """What the finished RUN spent: by slice, cell and attempt, with each attempt's chain of checkpoints."""
    report = parse_json(_read(run / "report.json"), file=str(run / "report.json"))
    if as_json:
        _print({"usage": report["usage"], "cells": [{k: c[k] for k in _CELL} for c in report["cells"]]})
        return
    chains = ""
    if report["usage"]["status"] == "verified":  # elsewhere a chain would show 0 for what nobody knows
        chains = draw_files(str(run / "usage.manifest.json"), str(run / "usage.records.json"))
    click.echo(spent_text(report["usage"], report["cells"], chains))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"can't read the report: {error.strerror}",
            place=Place(str(path)),
            expected="a finished run's folder",
            fix="`proctor run` prints the folder that it wrote",
        ) from error


def _print(value: dict[str, Any]) -> None:
    """One line of ASCII JSON."""
    click.echo(json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False))
