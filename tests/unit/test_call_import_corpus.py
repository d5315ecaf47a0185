"""The corpus holds what every corpus must, is the same everywhere, and never tells its truth."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import call_import_kit as kit

SEEDS = range(1, 13)
NAME = re.compile(
    r"(in|out|int)_([0-9]{8}T[0-9]{6})Z_(\+[0-9]{6,15}|hidden)_([A-Z0-9]{2,4}|none)"
    r"(?:_[^/\x00-\x1f\x7f-\x9f]{1,120})?\.(mp3|wav|ogg|m4a)"
)
MIME = {"mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "m4a": "audio/mp4"}


def build(seed: int, files: int = 300, cycles: int = 20) -> Any:
    return kit.modules()["corpus"].build(seed, files=files, cycles=cycles)


def instant(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def by_the_book(file: dict[str, Any], names: dict[str, str]) -> dict[str, Any] | None:
    """An admissible file's row without its zone, read from the name as the rules say: the opposite way round."""
    match = NAME.fullmatch(file["name"])
    if match is None or instant(match[2]) is None or file["mime_type"] != MIME[match[5]]:
        return None
    if file["corrupt"] or file["size_bytes"] <= 0 or file["duration_sec"] <= 0:
        return None
    metadata = file.get("metadata", {})
    phone, code = match[3], match[4]
    if phone == "hidden":
        phone = metadata.get("phone", "") if re.fullmatch(r"\+[0-9]{6,15}", metadata.get("phone", "")) else ""
    if code == "none":
        other = metadata.get("manager_code", "")
        code = other if re.fullmatch(r"[A-Z0-9]{2,4}", other) else ""
    return {"started": instant(match[2]), "direction": match[1], "phone": phone, "manager": names.get(code, code)}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_seed_holds_the_minimum(seed: int) -> None:
    corpus = build(seed)
    happenings = Counter(h.do for h in corpus.happenings)
    repeats = happenings["repeat_file"] + len(corpus.opening) - len(set(corpus.opening))
    assert corpus.plan.cycles >= 20
    assert len(corpus.admissible) >= 200
    assert repeats >= 30
    assert happenings["rename_file"] + happenings["move_file"] >= 20
    assert sum(r.fault is not None for r in corpus.recordings) >= 20
    assert {r.fault for r in corpus.recordings} >= {
        "corrupt", "zero_size", "zero_duration", "wrong_mime", "unsupported_type", "bad_name", "impossible_time",
    }  # fmt: skip
    assert sum(r.hostile is not None for r in corpus.recordings) >= 10
    names = Counter(r.name for r in corpus.recordings)
    assert max(names.values()) >= 2
    assert happenings["set_zone"] == 2
    assert len({r.cycle for r in corpus.recordings if r.during_walk}) >= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_each_seed_has_every_fault_phase_and_tool(seed: int) -> None:
    strikes = build(seed).plan.strikes
    ways = {(s.kind, s.phase, s.tool) for s in strikes}
    reading = ("list_files", "list_confirmed", "get_config", "get_permissions")
    for phase in ("before", "after"):
        assert ways >= {("temporary", phase, tool) for tool in (*reading, "append_rows", "insert_rows", "report")}
        assert ways >= {("crash", phase, t) for t in ("list_files", "list_confirmed", "append_rows", "insert_rows")}
    assert len({(s.cycle, s.tool, s.nth) for s in strikes}) == len(strikes) >= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_no_fault_leaves_work_open_where_the_zone_changes_or_the_corpus_ends(seed: int) -> None:
    plan = build(seed).plan
    changes = [zone.from_cycle for zone in plan.zones[1:]]
    crashes = sorted(s.cycle for s in plan.strikes if s.kind == "crash")
    assert all(b - a > 1 for a, b in itertools.pairwise(crashes))
    for cycle in (*crashes, *plan.walk_cycles):
        assert cycle + 1 not in changes
        assert cycle < plan.cycles
    assert not set(crashes) & set(plan.walk_cycles)


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_begin_at_both_clock_changes_at_midnight_at_the_years_end_and_on_the_leap_day(seed: int) -> None:
    corpus = build(seed)
    boundaries = kit.modules()["boundaries"]
    first = corpus.plan.zones[0]
    last = corpus.plan.zones[1].from_cycle
    started = {r.started for r in corpus.admissible if r.due < last}
    changes = boundaries.clock_changes(first.name, *(datetime(2024, m, 1, tzinfo=UTC) for m in (1, 12)))
    assert len(changes) == 2
    assert {change for change, _ in changes} <= started
    assert {moved.total_seconds() > 0 for _, moved in changes} == {True, False}
    wall = Counter(r["started_local"][:19] for r in corpus.expected_rows())
    offsets = {r["started_local"] for r in corpus.expected_rows() if wall[r["started_local"][:19]] > 1}
    assert len({text[:19] for text in offsets}) < len(offsets), "one wall time, two offsets"
    local = [r["started_local"] for r in corpus.expected_rows()]
    assert any("T00:00:00" in text for text in local)
    assert any(text.startswith("2024-12-31T23:59:59") for text in local)
    assert any(text.startswith("2024-02-29T") for text in local)


@pytest.mark.parametrize("seed", SEEDS)
def test_late_files_come_before_rows_that_are_there(seed: int) -> None:
    corpus = build(seed)
    for cycle in range(2, corpus.plan.cycles + 1):
        confirmed = [r.started for r in corpus.admissible if r.cycle < cycle - 1 or r.cycle == 1]
        arriving = [r.started for r in corpus.admissible if r.due == cycle == r.cycle]
        assert min(arriving) < max(confirmed) < max(arriving)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_names_read_by_the_book_give_the_truth_they_were_rendered_from(seed: int) -> None:
    corpus = build(seed)
    managers = kit.modules()["texts"].MANAGERS
    for recording in corpus.recordings:
        read = by_the_book(recording.source(), managers)
        assert (read is None) == (recording.fault is not None), (recording.name, recording.fault)
        if read is not None:
            truth = {name: getattr(recording, name) for name in ("started", "direction", "phone", "manager")}
            assert read == truth, recording.name
            row = recording.row("UTC")
            assert row["started_local"].endswith("+00:00")
            assert datetime.fromisoformat(row["started_local"]) == recording.started
            assert recording.created > recording.started


def test_renames_change_only_the_label() -> None:
    corpus = build(4)
    managers = kit.modules()["texts"].MANAGERS
    files = {r.file_id: r.source() for r in corpus.recordings}
    renames = [h.args for h in corpus.happenings if h.do == "rename_file"]
    assert renames
    for rename in renames:
        file = files[rename["file_id"]]
        assert rename["name"] != file["name"]
        assert by_the_book({**file, "name": rename["name"]}, managers) == by_the_book(file, managers)


def test_the_expected_rows_stand_in_order_each_in_the_zone_of_its_cycle() -> None:
    corpus = build(5)
    rows = corpus.expected_rows()
    keys = [(datetime.fromisoformat(row["started_local"]), row["file_id"]) for row in rows]
    assert keys == sorted(keys)
    by_id = {r.file_id: r for r in corpus.recordings}
    for row in rows:
        zone = ZoneInfo(corpus.plan.zone(by_id[row["file_id"]].due).name)
        started = datetime.fromisoformat(row["started_local"])
        assert started.utcoffset() == started.astimezone(zone).utcoffset()


def test_the_same_seed_gives_the_same_bytes_whatever_the_hash_seed_and_locale() -> None:
    script = (
        "import sys, json, hashlib; sys.path.insert(0, sys.argv[1]); import corpus; "
        "files = corpus.publish(11); case = json.dumps(corpus.cases(11)).encode(); "
        "print(hashlib.sha256(case + b''.join(files[n] for n in sorted(files))).hexdigest())"
    )
    folder = str(kit.suite().folder)
    digests = set()
    for environment in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}):
        done = subprocess.run(
            [sys.executable, "-c", script, folder], capture_output=True, text=True, env=environment, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_another_seed_gives_another_corpus() -> None:
    assert kit.raw_case(1) != kit.raw_case(2)


def test_the_size_is_what_was_asked_for() -> None:
    corpus = build(1, files=600, cycles=24)
    assert len(corpus.recordings) == 600
    assert corpus.plan.cycles == 24


@pytest.mark.parametrize(("files", "cycles", "message"), [(239, 20, "240 files"), (300, 19, "20 cycles")])
def test_a_corpus_too_small_for_what_it_must_hold_is_refused(files: int, cycles: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(1, files=files, cycles=cycles)


def test_only_key_and_expect_know_the_truth() -> None:
    case = kit.raw_case(1)
    shown = json.dumps({name: value for name, value in case.items() if name not in ("key", "expect")})
    for word in ("fault", "hostile", "plain_peer", "neutral"):
        assert f'"{word}"' not in shown
    assert '"faults"' in shown  # the schedule, which the harness has and neither agent nor world is given


def naive_score(expected: bytes, candidate: bytes) -> dict[str, float]:
    """The basic scorer's five figures, the slow way."""
    want = list(csv.DictReader(io.StringIO(expected.decode())))
    have = list(csv.DictReader(io.StringIO(candidate.decode())))
    wanted, last = [row["file_id"] for row in want], {row["file_id"]: row for row in have}
    both = set(wanted) & last.keys()
    columns = [name for name in kit.modules()["published"].COLUMNS if name != "file_id"]
    right = sum(row[c] == last.get(row["file_id"], {}).get(c) for row in want for c in columns)
    ids = [row["file_id"] for row in have]
    return {
        "completeness": len(both) / len(want) if want else 0.0,
        "precision": len(both) / len(last) if last else 0.0,
        "uniqueness": float(len(set(ids)) == len(ids)),
        "field_accuracy": right / (len(want) * len(columns)) if want else 0.0,
        "order_correctness": float(bool(want) and ids == wanted),
    }


def test_the_published_files_are_all_there_and_their_pairs_score_as_they_say() -> None:
    files = kit.modules()["corpus"].publish(3)
    assert set(files) >= {
        "drive_events.jsonl", "expected_final_rows.csv", "candidate_final_rows_template.csv",
        "external_checks_template.json", "agent_contract.md", "managers.csv", "name_grammar.abnf",
    }  # fmt: skip
    for folder in ("reference", "defective", "empty-on-empty"):
        result = json.loads(files[f"{folder}/result.json"])
        scored = naive_score(files[f"{folder}/expected.csv"], files[f"{folder}/candidate.csv"])
        assert {name: result[name] for name in scored} == pytest.approx(scored)
        assert result["scorer_pass"] is (folder == "reference")
    checks = json.loads(files["external_checks_template.json"])["checks"]
    assert len(checks) == 9
    assert all(check["passed"] is None for check in checks)


def test_the_published_events_replay_to_the_case() -> None:
    corpus = build(3)
    lines = [json.loads(line) for line in kit.modules()["corpus"].publish(3)["drive_events.jsonl"].split(b"\n")[:-1]]
    assert [line["event"] for line in lines] == list(range(1, len(lines) + 1))
    kinds = Counter(line["do"] for line in lines)
    assert kinds["add_file"] == len(corpus.recordings)
    assert kinds["fault_temporary"] + kinds["fault_crash"] == len(corpus.plan.strikes)
    assert len([line for line in lines if line["do"] in ("add_file", "repeat_file")]) >= 300
