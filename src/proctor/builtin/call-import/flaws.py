"""Inadmissible recordings: an admissible one with exactly one thing wrong, and the reason why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dice import Dice
from grammar import MIME, NEUTRAL_LABEL, render
from recordings import Recording
from texts import UNSUPPORTED, WRONG_MIME

PARSABLE = ("corrupt", "zero_size", "zero_duration", "wrong_mime")
"""Flaws beside the name; these can carry any label."""
KINDS = (*PARSABLE, "unsupported_type", "bad_name", "impossible_time")


def spoil(recording: Recording, kind: str, number: int, dice: Dice) -> Recording:
    """The recording with a flaw of this kind; ``number`` walks through the kind's variants."""
    return _SPOILERS[kind](replace(recording, fault=kind), number, dice)


def _corrupt(recording: Recording, number: int, dice: Dice) -> Recording:
    return replace(recording, corrupt=True)


def _zero_size(recording: Recording, number: int, dice: Dice) -> Recording:
    return replace(recording, size_bytes=0)


def _zero_duration(recording: Recording, number: int, dice: Dice) -> Recording:
    return replace(recording, duration_sec=(0, -1)[number % 2])


def _wrong_mime(recording: Recording, number: int, dice: Dice) -> Recording:
    others = [mime for ext, mime in MIME.items() if ext != recording.parts["ext"]]
    return replace(recording, mime_type=(*WRONG_MIME, *others)[number % (len(WRONG_MIME) + len(others))])


def _unsupported(recording: Recording, number: int, dice: Dice) -> Recording:
    ext = tuple(UNSUPPORTED)[number % len(UNSUPPORTED)]
    return replace(_renamed(recording, {**recording.parts, "ext": ext}), mime_type=UNSUPPORTED[ext])


def _bad_name(recording: Recording, number: int, dice: Dice) -> Recording:
    misshapen = _MISSHAPEN[number % len(_MISSHAPEN)]
    return replace(recording, name=misshapen(recording.parts), neutral_name=misshapen(_quiet(recording.parts)))


def _impossible_time(recording: Recording, number: int, dice: Dice) -> Recording:
    started = recording.parts["started"]
    year = started[:4]
    impossible = (
        f"{year}0230{started[8:]}", f"20250229{started[8:]}", f"{year}1305{started[8:]}", f"{year}0400{started[8:]}",
        f"{started[:8]}T250000Z", f"{started[:8]}T126100Z", f"{started[:8]}T120061Z", f"{year}0431{started[8:]}",
    )  # fmt: skip
    return _renamed(recording, {**recording.parts, "started": impossible[number % len(impossible)]})


_SPOILERS: Mapping[str, Callable[[Recording, int, Dice], Recording]] = {
    "corrupt": _corrupt,
    "zero_size": _zero_size,
    "zero_duration": _zero_duration,
    "wrong_mime": _wrong_mime,
    "unsupported_type": _unsupported,
    "bad_name": _bad_name,
    "impossible_time": _impossible_time,
}


def _renamed(recording: Recording, parts: Mapping[str, str]) -> Recording:
    return replace(recording, parts=parts, name=render(parts), neutral_name=render(_quiet(parts)))


def _quiet(parts: Mapping[str, str]) -> Mapping[str, str]:
    return {**parts, "label": NEUTRAL_LABEL if parts["label"] else ""}


def _with(**changes: str) -> Callable[[Mapping[str, str]], str]:
    return lambda parts: render({**parts, **changes})


_MISSHAPEN: tuple[Callable[[Mapping[str, str]], str], ...] = (
    _with(direction="incoming"),
    lambda p: f"{p['direction']}_{p['started']}_{p['phone']}.{p['ext']}",
    lambda p: render({**p, "started": p["started"][:-1]}),
    lambda p: render({**p, "started": f"{p['started'][:4]}-{p['started'][4:6]}-{p['started'][6:]}"}),
    _with(phone="+12345"),
    _with(phone="+1234567890123456"),
    _with(phone="12025550101"),
    _with(manager="A"),
    _with(manager="ABCDE"),
    _with(manager="ab"),
    lambda p: f"{p['direction']}_{p['started']}_{p['phone']}_{p['manager']}_.{p['ext']}",
    _with(label="y" * 121),
    _with(label="left/right"),
    _with(label="bell\x07"),
    _with(label="next\x85line"),
    lambda p: render(p) + "\n",
    lambda p: render(p).rpartition(".")[0],
    lambda p: render({**p, "started": p["started"].translate(_ARABIC)}),
    lambda p: " " + render(p),
    lambda p: render(p).replace("_", "-"),
)
"""Names outside the grammar, each for one reason."""

_ARABIC = {ord("0") + digit: 0x0660 + digit for digit in range(10)}
