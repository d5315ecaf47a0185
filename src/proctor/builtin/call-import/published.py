"""The public development corpus as files, and pairs of final states to test a scorer with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grammar import FIELDS
from texts import MANAGERS

if TYPE_CHECKING:
    from corpus import Corpus

HERE = Path(__file__).parent
COLUMNS = ("file_id", *FIELDS)
EXTERNAL_CHECKS = (
    "recovery",
    "error_honesty",
    "cycle_stability",
    "event_log_completeness",
    "write_access_isolation",
    "evaluator_injection_isolation",
    "fresh_hidden_control",
    "escrow_observation",
    "red_team",
)
GHOST = "f-no-such-file"

Row = Mapping[str, Any]


def files_of(corpus: Corpus) -> dict[str, bytes]:
    """File name to bytes; a name with / lies in a folder."""
    expected = corpus.expected_rows()
    table = csv_bytes(expected)
    return {
        "drive_events.jsonl": _jsonl(events_of(corpus)),
        "expected_final_rows.csv": table,
        "candidate_final_rows_template.csv": csv_bytes(()),
        "external_checks_template.json": _json(external_checks()),
        "agent_contract.md": (HERE / "agent_contract.md").read_bytes(),
        "managers.csv": _csv(("code", "name"), MANAGERS.items()),
        "name_grammar.abnf": (HERE / "name_grammar.abnf").read_bytes(),
        "reference/expected.csv": table,
        "reference/candidate.csv": table,
        "reference/result.json": _json(_result(1.0, 1.0, 1.0, 1.0, 1.0)),
        **_defective(expected),
        "empty-on-empty/expected.csv": csv_bytes(()),
        "empty-on-empty/candidate.csv": csv_bytes(()),
        "empty-on-empty/result.json": _json(_result(0.0, 0.0, 1.0, 0.0, 0.0, errors=("expected set is empty",))),
    }


def events_of(corpus: Corpus) -> list[dict[str, Any]]:
    """Everything that happens, one object an event: what the source opens with, its changes, and the faults."""
    by_id = {r.file_id: r for r in corpus.recordings}
    events: list[dict[str, Any]] = []
    seen: set[str] = set()
    zone = corpus.plan.zones[0]
    events.append({"cycle": 1, "do": "set_zone", "args": {"time_zone": zone.name, "time_zone_version": zone.version}})
    for file_id in corpus.opening:
        if file_id in seen:
            events.append({"cycle": 1, "do": "repeat_file", "args": {"file_id": file_id}})
        else:
            events.append({"cycle": 1, "do": "add_file", "args": {"file": by_id[file_id].source()}})
        seen.add(file_id)
    events += [happening.as_event() for happening in corpus.happenings]
    for strike in corpus.plan.strikes:
        where = {"tool": strike.tool, "nth": strike.nth, "phase": strike.phase}
        events.append({"cycle": strike.cycle, "do": f"fault_{strike.kind}", "args": where})
    events.sort(key=lambda event: event["cycle"])
    return [{"event": number, **event} for number, event in enumerate(events, 1)]


def external_checks() -> dict[str, Any]:
    """A form to fill in: the evidence of each external check, by digest. Unfilled, no pilot verdict exists."""
    return {
        "pilot_pass": None,
        "checks": [
            {"check": name, "passed": None, "evidence": None, "evidence_sha256": None, "attested_by": None}
            for name in EXTERNAL_CHECKS
        ],
    }


def _defective(expected: list[dict[str, Any]]) -> dict[str, bytes]:
    """A candidate with one of each: two rows gone, a ghost, a row twice, two wrong fields, two rows swapped."""
    rows = [dict(row) for row in expected[2:]]
    rows[0]["manager"] = "Somebody Else"
    rows[1]["duration_sec"] += 1
    rows[4], rows[5] = rows[5], rows[4]
    ghost = {**rows[-1], "file_id": GHOST, "link": f"drive://{GHOST}"}
    candidate = [*rows, ghost, rows[-1]]
    count, fields = len(expected), len(FIELDS)
    right = (count - 2) * fields - 2
    result = _result((count - 2) / count, (count - 2) / (count - 1), 0.0, right / (count * fields), 0.0)
    return {
        "defective/expected.csv": csv_bytes(expected),
        "defective/candidate.csv": csv_bytes(candidate),
        "defective/result.json": _json(result),
    }


def _result(
    completeness: float, precision: float, uniqueness: float, fields: float, order: float, *, errors: Iterable[str] = ()
) -> dict[str, Any]:
    """What the basic scorer must say, but for its sentence about scope."""
    found = list(errors)
    product = completeness * precision * uniqueness * fields * order
    return {
        "completeness": completeness,
        "precision": precision,
        "uniqueness": uniqueness,
        "field_accuracy": fields,
        "order_correctness": order,
        "configuration_errors": found,
        "Perf_shadow_final_state": product,
        "scorer_pass": product == 1.0 and not found,
        "pilot_pass": None,
        "external_checks_required": list(EXTERNAL_CHECKS),
    }


def csv_bytes(rows: Iterable[Row]) -> bytes:
    """Rows of the register as CSV, UTF-8, lines ending in \\n."""
    return _csv(COLUMNS, ([row[column] for column in COLUMNS] for row in rows))


def _csv(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _jsonl(values: Iterable[Any]) -> bytes:
    lines = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values]
    return "".join(lines).encode()
