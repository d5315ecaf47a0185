"""Ed25519 keys under names, in the C2SP ``vkey`` form, and this installation's own signing key.

A key named ``N`` signs for the logs whose origin is ``N`` or starts with ``N/``: the note's signature carries
the origin as its name, as C2SP tlog-checkpoint asks, and the key id follows from that name. The
installation's key lives in ``$PROCTOR_HOME`` or ``~/.config/proctor``, readable by its owner alone, and is
made on first use. Left out: which keys are believed (``ledger.trust``).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from proctor.clock import Randomness, SystemRandomness
from proctor.errors import EvidenceError, InputError, Place, UsageError
from proctor.ledger.files import DISK, FileOps, sync_folder, write_all

__all__ = [
    "KEY_FILE",
    "KeyKind",
    "PublicKey",
    "Signer",
    "decode_base64",
    "home_folder",
    "install_signer",
    "load_signer",
    "make_signer",
    "parse_vkey",
    "rotate_signer",
]

KEY_FILE: Final = "signing.key"
_PRIVATE: Final = "PRIVATE+KEY+"
_SEED_BYTES: Final = 32
_HEX_ID = re.compile(r"[0-9a-f]{8}")


class KeyKind(IntEnum):
    """What a key signs; the first byte of its encoded form."""

    ED25519 = 1
    COSIGNATURE = 4


def decode_base64(text: str) -> bytes | None:
    """Bytes of standard base64 in its one canonical spelling, else None."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def is_key_name(name: str) -> bool:
    """Whether a name may stand in a note: not empty, printable, no space, no plus."""
    return bool(name) and name.isprintable() and "+" not in name and not any(c.isspace() for c in name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A public key under its name; ``raw`` are its 32 bytes."""

    name: str
    raw: bytes
    kind: KeyKind = KeyKind.ED25519

    @property
    def key_id(self) -> bytes:
        """First four bytes of SHA-256 over name, newline, kind and key."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.raw).digest()[:4]

    @property
    def vkey(self) -> str:
        """``NAME+ID+KEY`` as in C2SP signed-note."""
        encoded = base64.b64encode(bytes([self.kind]) + self.raw).decode()
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    def renamed(self, name: str) -> PublicKey:
        """The same key under another name (and so with another id)."""
        return PublicKey(name=name, raw=self.raw, kind=self.kind)

    def signs_for(self, origin: str) -> bool:
        """Whether logs with this origin are this key's to sign."""
        return origin == self.name or origin.startswith(self.name + "/")

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether ``signature`` (64 bytes) is this key's over exactly ``message``."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - slow to import
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


def parse_vkey(text: str) -> PublicKey:
    """Read ``NAME+ID+KEY``. Raises ``InputError`` unless it is spelled exactly as this key would be."""
    parts = text.split("+", 2)
    if len(parts) == 3 and is_key_name(parts[0]) and _HEX_ID.fullmatch(parts[1]):
        data = decode_base64(parts[2])
        if data is not None and len(data) == 33 and data[0] in tuple(KeyKind):
            key = PublicKey(name=parts[0], raw=data[1:], kind=KeyKind(data[0]))
            if key.vkey == text:
                return key
    raise InputError(
        "not a verifier key",
        expected="NAME+ID+KEY of an Ed25519 key, as `proctor keys show` prints it",
        found=text,
        code="bad_vkey",
    )


class Signer:
    """A private Ed25519 key under a name. Its ``repr`` shows the public part only."""

    __slots__ = ("_private", "_seed", "public")

    def __init__(self, name: str, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        if not is_key_name(name):
            raise UsageError("not a key name", expected="printable text without space or plus", found=name)
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self._seed = seed
        self.public = PublicKey(name=name, raw=self._private.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        return f"Signer({self.public.vkey!r})"

    @property
    def name(self) -> str:
        """The key's name: logs signed by it have origins ``NAME`` or ``NAME/…``."""
        return self.public.name

    def origin(self, *parts: str) -> str:
        """Origin of a log of this installation, e.g. ``origin("run", run_id, "worker", "00")``."""
        return "/".join((self.name, *parts))

    def sign(self, message: bytes) -> bytes:
        """64 bytes."""
        return self._private.sign(message)

    def renamed(self, name: str) -> Signer:
        """The same key under another name."""
        return Signer(name, self._seed)

    def private_text(self) -> str:
        """The private key as one line; for its file alone."""
        encoded = base64.b64encode(bytes([KeyKind.ED25519]) + self._seed).decode()
        return f"{_PRIVATE}{self.name}+{self.public.key_id.hex()}+{encoded}"


def _parse_private(text: str, file: str) -> Signer:
    parts = text.removeprefix(_PRIVATE).split("+", 2)
    data = decode_base64(parts[-1])
    if text.startswith(_PRIVATE) and len(parts) == 3 and data is not None and len(data) == _SEED_BYTES + 1:
        signer = Signer(parts[0], data[1:])
        if signer.private_text() == text:
            return signer
    raise InputError(
        "not a signing key",
        place=Place(file),
        expected="the line that `proctor keys make` wrote",
        fix="restore the file, or move it away and run `proctor keys make`",
        code="bad_signing_key",
    )


def home_folder(environ: Mapping[str, str]) -> Path:
    """Where this installation keeps its key: ``$PROCTOR_HOME``, else ``~/.config/proctor``."""
    home = environ.get("PROCTOR_HOME")
    return Path(home) if home else Path("~/.config/proctor").expanduser()


def load_signer(home: Path) -> Signer | None:
    """This installation's key, None where it has none. Raises ``EvidenceError`` where others may read it."""
    path = home / KEY_FILE
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(4096).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    if mode & 0o077:
        raise EvidenceError(
            "the signing key may be read by others",
            place=Place(str(path)),
            expected="mode 0600",
            found=f"mode {mode & 0o777:04o}",
            fix=f"`chmod 600 {path}`, and `proctor keys rotate` if somebody may have copied it",
            code="key_exposed",
        )
    return _parse_private(text.removesuffix("\n"), str(path))


def make_signer(
    home: Path, *, name: str | None = None, randomness: Randomness | None = None, ops: FileOps = DISK
) -> Signer:
    """Make this installation's key. Raises ``UsageError`` where there is one already."""
    source = randomness or SystemRandomness()
    signer = Signer(name or f"proctor.local/{source.bytes(5).hex()}", source.bytes(_SEED_BYTES))
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / KEY_FILE
    temporary = _write_private(home, signer, ops)
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise UsageError(
            "this installation has a signing key already",
            place=Place(str(path)),
            fix="`proctor keys rotate` replaces it",
            code="key_exists",
        ) from None
    finally:
        ops.unlink(temporary)
    sync_folder(ops, home)
    return signer


def rotate_signer(home: Path, *, randomness: Randomness | None = None, ops: FileOps = DISK) -> tuple[Signer, Signer]:
    """Replace this installation's key by a new one of the same name; ``(old, new)``. The old one is gone."""
    old = load_signer(home)
    if old is None:
        raise UsageError("this installation has no signing key", fix="`proctor keys make` makes one", code="no_key")
    new = Signer(old.name, (randomness or SystemRandomness()).bytes(_SEED_BYTES))
    ops.rename(_write_private(home, new, ops), home / KEY_FILE)
    sync_folder(ops, home)
    return old, new


def _write_private(home: Path, signer: Signer, ops: FileOps) -> Path:
    temporary = home / f"{KEY_FILE}.{os.getpid()}.new"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_all(ops, fd, signer.private_text().encode() + b"\n")
        ops.sync(fd)
    finally:
        ops.close(fd)
    return temporary


def install_signer(environ: Mapping[str, str]) -> Signer:
    """This installation's key, made on first use."""
    home = home_folder(environ)
    signer = load_signer(home)
    if signer is not None:
        return signer
    try:
        return make_signer(home)
    except UsageError:
        found = load_signer(home)
        if found is None:
            raise
        return found
