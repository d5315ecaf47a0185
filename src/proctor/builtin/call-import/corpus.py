"""The corpus of one seed: what the source holds and what happens to it, cycle after cycle, with the truth apart.

    cases(seed)              the suite's one case
    build(seed, files=…)     the corpus as values, of any size
    publish(seed)            the public development corpus as named files

Same seed and size, same bytes. Everything is drawn from ``dice``; nothing depends on hashing order, locale or clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arrivals import Arrivals, draw
from dice import Dice
from grammar import RULES_VERSION, local_text
from happenings import Happening, arrange
from published import files_of
from recordings import Recording
from schedule import MIN_CYCLES, Plan, make_plan
from texts import MANAGERS, METADATA_TEXTS, SIDEWAYS

FILES = 300
MIN_FILES = 240
TASK = (
    "Import every new call recording of the source into the register: exactly once, with the right fields, in the "
    "right order. Report what can't be imported. End each cycle with finish_cycle and your counts. "
    "The contract has the rules."
)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A corpus as values: the schedule, the recordings in order of arrival, and what happens."""

    seed: int
    plan: Plan
    recordings: tuple[Recording, ...]
    opening: tuple[str, ...]
    happenings: tuple[Happening, ...]
    neutral: dict[str, str]

    @property
    def admissible(self) -> list[Recording]:
        """The recordings that must be imported, in the order in which the register must list them."""
        return sorted((r for r in self.recordings if r.fault is None), key=lambda r: r.order)

    def expected_rows(self) -> list[dict[str, Any]]:
        """The final register, in order, each row in the zone of the cycle in which its file is due."""
        return [r.row(self.plan.zone(r.due).name) for r in self.admissible]


def build(seed: int, files: int = FILES, cycles: int = MIN_CYCLES) -> Corpus:
    """The corpus of a seed. Raises ``ValueError`` if it would be too small to hold what every corpus must."""
    if files < MIN_FILES:
        raise ValueError(f"a corpus has at least {MIN_FILES} files; asked for {files}")
    dice = Dice(f"call-import/rules-{RULES_VERSION}/seed-{seed}")
    plan = make_plan(dice.fork("plan"), cycles)
    arrivals: Arrivals = draw(dice.fork("arrivals"), plan, files)
    happenings, opening, neutral = arrange(dice.fork("happenings"), plan, arrivals)
    return Corpus(
        seed=seed,
        plan=plan,
        recordings=arrivals.recordings,
        opening=opening,
        happenings=happenings,
        neutral=neutral,
    )


def cases(seed: int) -> list[dict[str, Any]]:
    """The suite's cases: one corpus, one case."""
    return [case_of(build(seed))]


def benchmark_cases(seed: int) -> list[dict[str, Any]]:
    """One case of 600 files, the size at which speed is measured."""
    return [case_of(build(seed, files=600))]


def publish(seed: int) -> dict[str, bytes]:
    """The public development corpus: file name (with / for folders) to bytes."""
    return files_of(build(seed))


def case_of(corpus: Corpus) -> dict[str, Any]:
    """A corpus as a case. What the agent must not know is in ``expect`` and ``key`` alone."""
    by_id = {r.file_id: r for r in corpus.recordings}
    opening = dict.fromkeys(corpus.opening)
    return {
        "id": f"corpus-{corpus.seed}",
        "slice": "laboratory",
        "group": f"seed-{corpus.seed}",
        "task": TASK,
        "cycles": corpus.plan.cycles,
        "setup": {
            "config": [_config(corpus)],
            "managers": [{"code": code, "name": name} for code, name in MANAGERS.items()],
            "files": [_columns(by_id[file_id]) for file_id in opening],
            "arrivals": [{"number": n, "file_id": file_id} for n, file_id in enumerate(corpus.opening, 1)],
        },
        "events": [happening.as_event() for happening in corpus.happenings],
        "faults": [
            {"cycle": s.cycle, "tool": s.tool, "nth": s.nth, "phase": s.phase, "kind": s.kind}
            for s in corpus.plan.strikes
        ],
        "expect": {"register": corpus.expected_rows()},
        "key": _key(corpus),
    }


def _config(corpus: Corpus) -> dict[str, Any]:
    first = corpus.plan.zones[0]
    return {"id": 1, "time_zone": first.name, "time_zone_version": first.version, "rules_version": RULES_VERSION}


def _columns(recording: Recording) -> dict[str, Any]:
    """A file as a row of the world's table ``files``."""
    shown = recording.source()
    metadata = shown.pop("metadata", {})
    row = {**shown, "corrupt": int(shown["corrupt"])}
    return row | {f"metadata_{name}": value for name, value in metadata.items()}


def _key(corpus: Corpus) -> dict[str, Any]:
    """What only the grader is told: the truth of each file, in the order in which rows belong."""
    zones = corpus.plan.zones
    return {
        "zones": [{"from_cycle": z.from_cycle, "name": z.name, "version": z.version} for z in zones],
        "files": [_truth(corpus, r) for r in sorted(corpus.recordings, key=lambda r: r.order)],
        "neutral": corpus.neutral,
        "foreign_texts": [*METADATA_TEXTS, SIDEWAYS],
    }


def _truth(corpus: Corpus, recording: Recording) -> dict[str, Any]:
    zones = corpus.plan.zones
    row = recording.row("UTC")
    return {
        "file_id": recording.file_id,
        "fault": recording.fault,
        "due": recording.due,
        "fields": {k: v for k, v in row.items() if k not in ("file_id", "started_local")},
        "local": {z.version: local_text(recording.started, z.name) for z in zones},
        "created_local": {z.version: local_text(recording.created, z.name) for z in zones},
        "created_utc": local_text(recording.created, "UTC"),
        "started_utc": row["started_local"],
        "hostile": recording.hostile,
        "plain_peer": recording.plain_peer,
    }
