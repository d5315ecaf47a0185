"""Sealed keys: a case carries the digest of its key alone, and the graders open it by that digest.

``sealed-keys.jsonl`` in the suite's folder holds one line a key, ``{"key": …, "salt": …}``; a case's key is
``{"sealed": "sha256:…"}``, the digest of its line without the line feed. The file is no part of the suite that a run
copies and digests, so keys stay where they are; the digests in the cases bind them all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.codec.canonical import digest_bytes
from proctor.codec.json_strict import parse_json
from proctor.errors import Place, SuiteError
from proctor.suite.load import SEALED_KEYS

__all__ = ["SealedKeys"]


class SealedKeys:
    """The sealed keys of one suite; read when the first is opened, in the graders' process only."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SEALED_KEYS
        self._lines: Mapping[str, bytes] | None = None

    def open(self, key: Any) -> Any:
        """The key itself, or the one that a digest seals. Raises ``SuiteError`` where no line has that digest."""
        if not isinstance(key, Mapping) or set(key) != {"sealed"}:
            return key
        line = self._all().get(str(key["sealed"]))
        if line is None:
            raise SuiteError(
                "no sealed key has this digest",
                place=Place(str(self._path)),
                expected=str(key["sealed"]),
                fix="put the sealed keys of these cases there, unchanged",
                code="sealed_key",
            )
        value = parse_json(line, file=str(self._path))
        if not isinstance(value, dict) or "key" not in value:
            raise SuiteError(
                "a sealed line holds no key", place=Place(str(self._path)), expected='{"key": …, "salt": …}'
            )
        return value["key"]

    def _all(self) -> Mapping[str, bytes]:
        if self._lines is None:
            data = self._path.read_bytes() if self._path.is_file() else b""
            self._lines = {digest_bytes(line): line for line in data.split(b"\n") if line}
        return self._lines
