"""The workspace: the folder that holds runs, and what stands beside them.

``trust.json`` names the keys whose signatures are believed here. The first run in a workspace writes this
installation's own key into it; a run never brings keys with it.
"""

from __future__ import annotations

from pathlib import Path

from proctor.ledger.keys import Signer
from proctor.ledger.trust import TRUST_NAME, TrustedKey, TrustFile, load_trust, save_trust

__all__ = ["believe_own_key"]


def believe_own_key(workspace: Path, signer: Signer) -> None:
    """Make sure that runs signed here verify here. Raises ``InputError`` if ``trust.json`` is unreadable."""
    path = workspace / TRUST_NAME
    trust = load_trust(path) if path.exists() else TrustFile()
    believed = trust.with_key(TrustedKey(role="log", vkey=signer.public.vkey))
    if believed is not trust:
        save_trust(path, believed)
