"""``proctor verify RUN``: is the record intact, is it complete, and whose word is it?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from proctor.errors import InputError, Place
from proctor.ledger.checks import EntryRule
from proctor.ledger.trust import TRUST_NAME, TrustFile, load_trust
from proctor.ledger.verify import verify_log
from proctor.verification.cell import prove_cell
from proctor.verification.regrade import grade_again
from proctor.verification.run import verify_run
from proctor.verification.text import cell_text, log_text, run_text

__all__ = ["trust_for", "verify"]


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--trust", "trust_path", type=click.Path(path_type=Path), help="Keys to believe. [default: trust.json beside RUN]"
)
@click.option("--cell", help="Prove that one cell's grade and record are in the log, e.g. C/3.")
@click.option("--log-only", is_flag=True, help="RUN is a bare log: check structure, signatures and canonical bytes.")
@click.option("--no-code", is_flag=True, help="Don't run the suite's graders again: a lower claim, and it says so.")
@click.option("--json", "as_json", is_flag=True, help="Print everything that was found as JSON.")
def verify(run: Path, trust_path: Path | None, cell: str | None, log_only: bool, no_code: bool, as_json: bool) -> int:
    """Check the record of RUN byte by byte, by keys that you believe.

    Keys come from the trust file, never from the run. The cells are graded again from the record, with the graders that
    the run keeps (--no-code leaves that out), and the report must come out as it was. Exit codes: 0 intact and
    complete, 1 intact but incomplete, 2 broken (each fault is named with its place).
    """
    trust = trust_for(run, trust_path)
    if log_only:
        return _log_only(run, trust, as_json=as_json)
    check = verify_run(run, trust, regrade=None if no_code or cell else grade_again)
    if cell is not None and check.exit_code != 2:
        proof = prove_cell(run, cell)
        _print(proof, cell_text(proof), as_json=as_json)
        return 0
    facts = {
        "integrity": check.integrity.value,
        "completeness": check.completeness.value,
        **msgspec.to_builtins(check),
    }
    _print(facts, run_text(check), as_json=as_json)
    return check.exit_code


def trust_for(run: Path, path: Path | None) -> TrustFile:
    """The named trust file, or the workspace's, which stands beside the run."""
    if path is not None:
        return load_trust(path)
    beside = Path(os.path.abspath(run)).parent / TRUST_NAME  # noqa: PTH100 - links in RUN must not move the workspace
    if not beside.exists():
        raise InputError(
            "there is no trust file to check by",
            place=Place(str(beside)),
            expected="keys that you believe",
            fix="--trust FILE names another; `proctor keys trust VKEY` writes one",
            code="no_trust_file",
        )
    return load_trust(beside)


def _log_only(folder: Path, trust: TrustFile, *, as_json: bool) -> int:
    if not folder.is_dir():
        raise InputError("there is no log here", place=Place(str(folder)), expected="a folder", code="no_log")
    beside = frozenset(path.name for path in folder.iterdir() if path.suffix == ".json")
    check = verify_log(folder, trust, rule=EntryRule.CANONICAL, beside=beside)
    facts = {
        "integrity": "broken" if check.findings else "intact",
        "origin": check.origin,
        "size": check.size,
        "root": check.root.hex(),
        "trust": check.trust.value,
        "witnesses": list(check.witnesses),
        "isOpen": check.is_open,
        "findings": msgspec.to_builtins(check.findings),
        "besideTheLog": sorted(beside),
    }
    text = log_text(check, EntryRule.CANONICAL)
    if beside:
        text += f"\nnote          not part of the log, not checked: {', '.join(sorted(beside))}"
    _print(facts, text, as_json=as_json)
    if check.findings:
        return 2
    return 1 if check.is_open else 0


def _print(facts: Any, text: str, *, as_json: bool) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(facts), indent=1).decode() if as_json else text)
