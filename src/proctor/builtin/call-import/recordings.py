"""One call recording: what is true of it, and what the source shows. The second is written from the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from dice import Dice
from grammar import MIME, NEUTRAL_LABEL, local_text, render, stamp, utc_text
from texts import FOLDERS, LABELS, MANAGERS, METADATA_TEXTS, PHONES, SIDEWAYS, UNMAPPED


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A file of the source with its truth. ``fault`` says why it is inadmissible; None: it must be imported."""

    file_id: str
    started: datetime
    created: datetime
    direction: str
    phone: str
    manager: str
    duration_sec: int
    size_bytes: int
    mime_type: str
    folder_id: str
    corrupt: bool
    metadata: Mapping[str, str]
    parts: Mapping[str, str] = field(repr=False)
    name: str
    neutral_name: str
    cycle: int
    during_walk: bool = False
    fault: str | None = None
    hostile: str | None = None
    plain_peer: str | None = None

    @property
    def order(self) -> tuple[datetime, str]:
        """Where the row belongs: by the instant that the call began, then by id."""
        return self.started, self.file_id

    @property
    def due(self) -> int:
        """The first cycle whose start snapshot contains the file."""
        return self.cycle + 1 if self.during_walk else self.cycle

    def source(self) -> dict[str, Any]:
        """The file as the source shows it."""
        shown: dict[str, Any] = {
            "file_id": self.file_id,
            "name": self.name,
            "created_at_utc": utc_text(self.created),
            "mime_type": self.mime_type,
            "size_bytes": self.size_bytes,
            "duration_sec": self.duration_sec,
            "folder_id": self.folder_id,
            "corrupt": self.corrupt,
        }
        if self.metadata:
            shown["metadata"] = dict(self.metadata)
        return shown

    def row(self, zone: str) -> dict[str, Any]:
        """The row that the register must hold, if the file is confirmed under this zone."""
        return {
            "file_id": self.file_id,
            "started_local": local_text(self.started, zone),
            "direction": self.direction,
            "manager": self.manager,
            "phone": self.phone,
            "duration_sec": self.duration_sec,
            "link": f"drive://{self.file_id}",
            "status": "imported",
        }

    def relabelled(self, label: str) -> tuple[str, str]:
        """The name with another label, and its neutral form."""
        return render({**self.parts, "label": label}), _neutral({**self.parts, "label": label})


class Maker:
    """Makes admissible recordings; ``flaws`` makes the others out of them."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self._used: set[str] = set()

    def file_id(self) -> str:
        """An id that no other file of this corpus has."""
        while True:
            made = "f" + self.dice.hex(11)
            if made not in self._used:
                self._used.add(made)
                return made

    def good(
        self,
        started: datetime,
        cycle: int,
        *,
        label: str | None = None,
        hostile: str | None = None,
        hostile_metadata: bool = False,
        during_walk: bool = False,
        peer: str | None = None,
    ) -> Recording:
        """An admissible recording that begins at an instant (whole seconds) and arrives in a cycle."""
        dice = self.dice
        phone = self._carried(PHONES, "hidden", "phone", hostile_metadata)
        code = self._carried((*MANAGERS, *UNMAPPED), "none", "manager_code", hostile_metadata)
        direction = dice.pick(("in", "out", "int"))
        metadata = {**phone.metadata, **code.metadata}
        if dice.chance(25):
            metadata["direction"] = dice.pick(("in", "out", "int", SIDEWAYS))
        parts = {
            "direction": direction,
            "started": stamp(started),
            "phone": phone.in_name,
            "manager": code.in_name,
            "label": dice.pick(LABELS) if label is None else label,
            "ext": dice.pick(tuple(MIME)),
        }
        duration = dice.between(1, 5400)
        return Recording(
            file_id=self.file_id(),
            started=started,
            created=started + timedelta(seconds=duration + dice.between(61, 26 * 3600)),
            direction=direction,
            phone=phone.value,
            manager=MANAGERS.get(code.value, code.value),
            duration_sec=duration,
            size_bytes=duration * dice.between(2_000, 16_000),
            mime_type=MIME[parts["ext"]],
            folder_id=dice.pick(FOLDERS),
            corrupt=False,
            metadata=metadata,
            parts=parts,
            name=render(parts),
            neutral_name=_neutral(parts),
            cycle=cycle,
            during_walk=during_walk,
            hostile=hostile,
            plain_peer=peer,
        )

    def _carried(self, values: tuple[str, ...], absent: str, key: str, hostile: bool) -> _Carried:
        """Decide where a true value is written: in the name, in the metadata, or nowhere."""
        value, where = self.dice.pick(values), self.dice.below(100)
        if hostile:
            return _Carried("", absent, {key: self.dice.pick(METADATA_TEXTS)})
        if where < 55:
            return _Carried(value, value, {})
        if where < 75:  # the name beats the metadata
            return _Carried(value, value, {key: self.dice.pick(values)})
        if where < 92:
            return _Carried(value, absent, {key: value})
        return _Carried("", absent, {})


@dataclass(frozen=True)
class _Carried:
    value: str
    in_name: str
    metadata: dict[str, str]


def _neutral(parts: Mapping[str, str]) -> str:
    return render({**parts, "label": NEUTRAL_LABEL if parts["label"] else ""})
