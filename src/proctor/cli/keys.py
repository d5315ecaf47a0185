"""``proctor keys``: this installation's signing key, and the keys that a workspace believes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import click

from proctor.clock import SystemClock
from proctor.errors import UsageError
from proctor.ledger.entries import KeyRotated
from proctor.ledger.keys import KEY_FILE, KeyKind, home_folder, load_signer, make_signer, parse_vkey, rotate_signer
from proctor.ledger.note import witness_key
from proctor.ledger.reader import is_open
from proctor.ledger.trust import TRUST_NAME, TrustedKey, TrustFile, load_trust, save_trust
from proctor.ledger.workspace import WORKSPACE_LOG, add_to_workspace

__all__ = ["keys"]

_DEFAULT = Path("runs") / TRUST_NAME


@click.group()
def keys() -> None:
    """Make, show, rotate and trust signing keys.

    The signing key is in $PROCTOR_HOME, or ~/.config/proctor, for its owner alone; it is made on first use.
    """


@keys.command()
@click.option("--name", help="The key's name: logs have origins under it. [default: proctor.local/RANDOM]")
def make(name: str | None) -> int:
    """Make this installation's signing key and print its public part."""
    home = home_folder(os.environ)
    click.echo(make_signer(home, name=name).public.vkey)
    click.echo(f"the private part is in {home / KEY_FILE}", err=True)
    return 0


@keys.command()
@click.option("--witness", is_flag=True, help="As the key of a witness (`proctor witness`).")
def show(witness: bool) -> int:
    """Print the public part of this installation's signing key: what others put into their trust file."""
    signer = load_signer(home_folder(os.environ))
    if signer is None:
        raise UsageError("this installation has no signing key", fix="`proctor keys make` makes one", code="no_key")
    click.echo(witness_key(signer).vkey if witness else signer.public.vkey)
    return 0


@keys.command()
@click.argument("vkey")
@click.option("--file", "path", type=click.Path(path_type=Path), default=_DEFAULT, show_default=True)
@click.option("--from", "valid_from", type=click.DateTime(), help="Believe it for entries from then on (UTC).")
@click.option("--until", "valid_until", type=click.DateTime(), help="… and until then (UTC).")
def trust(vkey: str, path: Path, valid_from: datetime | None, valid_until: datetime | None) -> int:
    """Believe VKEY, a key that you got from whoever signs with it (never from a run)."""
    role: Literal["log", "witness"] = "witness" if parse_vkey(vkey).kind is KeyKind.COSIGNATURE else "log"
    key = TrustedKey(role=role, vkey=vkey, valid_from=_utc(valid_from), valid_until=_utc(valid_until))
    believed = load_trust(path) if path.exists() else TrustFile()
    save_trust(path, believed.with_key(key))
    click.echo(f"{path} believes {len(believed.with_key(key).keys)} keys")
    return 0


def _utc(at: datetime | None) -> datetime | None:
    return None if at is None else at.replace(tzinfo=UTC)


@keys.command()
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Whose trust file and log take note.",
)
def rotate(workspace: Path) -> int:
    """Replace the signing key by a new one of the same name; the old private key is gone.

    The workspace goes on believing the old key for what was signed before now, and the new one from now on.
    """
    clock = SystemClock()
    now = datetime.fromtimestamp(clock.now_ns() // 1_000_000_000, UTC)
    old, new = rotate_signer(home_folder(os.environ))
    path = workspace / TRUST_NAME
    believed = load_trust(path) if path.exists() else TrustFile()
    before = believed.with_key(TrustedKey(role="log", vkey=old.public.vkey)).with_end(old.public.vkey, now)
    save_trust(path, before.with_key(TrustedKey(role="log", vkey=new.public.vkey, valid_from=now)))
    if is_open(workspace / WORKSPACE_LOG):
        entry = KeyRotated(newVkey=new.public.vkey, oldVkey=old.public.vkey)
        add_to_workspace(workspace, entry, signer=new, clock=clock)
    click.echo(new.public.vkey)
    click.echo(f"was {old.public.vkey}", err=True)
    return 0
