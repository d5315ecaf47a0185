"""How fast usage is reduced, against a plain reducer written here, on the same bytes in the same process.

The baseline is what one would write first: stdlib ``json`` that refuses doubled keys, every key, type, identity and
sum checked in plain Python, one canonical encoding and one SHA-256 a record. Both read the two documents from bytes,
turn about, and the best of three counts; seconds are processor time, since other work may share the machine.

    python bench/usage.py [chains ...]        default: 20000 chains of three records, then growth up to 200000 records
"""

from __future__ import annotations

import gc
import hashlib
import json
import re
import sys
import time

from proctor.usage.fast import reduce_fast_bytes
from proctor.usage.reduce import reduce_careful, reduce_usage

CHECKPOINT = {"checkpoint_id", "run_id", "parent_checkpoint_id", "sequence", "state", "record_sha256"}
MANIFEST = {
    "schema_version", "evaluation_id", "candidate_id", "attempt_set_closed", "budget", "attempts", "runs",
    "checkpoints", "provenance",
}  # fmt: skip
HASH = re.compile(r"[0-9a-f]{64}")
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
COUNTS = {"requests", "input_tokens", "output_tokens", "total_tokens", "cached_tokens", "reasoning_tokens"}
RECORD = {
    "schema_version", "evaluation_id", "case_id", "attempt_id", "run_id", "session_id", "checkpoint_id",
    "parent_checkpoint_id", "sequence", "state", "candidate_id", "replicate_id", "boundary", "coverage_complete",
    "usage", "request_evidence",
}  # fmt: skip


def make(n_chains: int, length: int = 3) -> tuple[bytes, bytes]:
    """A manifest and records: chains of cumulative snapshots, one new request each, order not by chain."""
    attempts, runs, checkpoints, records = [], [], [], []
    for chain in range(n_chains):
        attempts.append(
            {"attempt_id": f"a-{chain}", "case_id": f"case-{chain // 4}", "replicate_id": f"r-{chain % 4}",
             "retry_index": 0, "outcome": "succeeded", "run_ids": [f"run-{chain}"]}
        )  # fmt: skip
        tip = f"cp-{chain}-{length - 1}"
        runs.append(
            {"run_id": f"run-{chain}", "attempt_id": f"a-{chain}", "session_id": None, "terminal_checkpoint_id": tip}
        )
        evidence: list[dict] = []
        usage = dict.fromkeys(sorted(COUNTS), 0)
        for number in range(length):
            given, made, cached = 900 + chain % 97 + number, 40 + chain % 13, 64 * (chain % 3)
            counts = {"requests": 1, "input_tokens": given, "output_tokens": made, "total_tokens": given + made,
                      "cached_tokens": cached, "reasoning_tokens": number}  # fmt: skip
            raw = {"input_tokens": given, "input_tokens_details": {"cached_tokens": cached}, "output_tokens": made,
                   "output_tokens_details": {"reasoning_tokens": number}, "total_tokens": given + made}  # fmt: skip
            evidence = [*evidence, {"request_id": f"req-{chain}-{number}", "provider": "openai.responses",
                                    "raw_usage": raw, "normalized": counts}]  # fmt: skip
            usage = {key: usage[key] + counts[key] for key in usage}
            parent = f"cp-{chain}-{number - 1}" if number else None
            state = "succeeded" if number == length - 1 else "checkpoint"
            cell = {"case_id": f"case-{chain // 4}", "replicate_id": f"r-{chain % 4}", "attempt_id": f"a-{chain}"}
            point = {"checkpoint_id": f"cp-{chain}-{number}", "run_id": f"run-{chain}", "parent_checkpoint_id": parent,
                     "sequence": number, "state": state}  # fmt: skip
            record = {"schema_version": 1, "evaluation_id": "bench", "candidate_id": "candidate", **cell, **point,
                      "session_id": None, "boundary": "top_level", "coverage_complete": True, "usage": usage,
                      "request_evidence": evidence}  # fmt: skip
            text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            records.append(((chain * 7 + number * 3) % 1009, json.dumps(record)))
            checkpoints.append({**point, "record_sha256": hashlib.sha256(text.encode()).hexdigest()})
    manifest = {"schema_version": 1, "evaluation_id": "bench", "candidate_id": "candidate", "attempt_set_closed": True,
                "budget": {"total_tokens": 2**53, "requests": 2**53}, "attempts": attempts, "runs": runs,
                "checkpoints": checkpoints, "provenance": {"sdk_version": "1", "collector_version": "1",
                "adapter": "openai.responses", "data_origin": "synthetic_fixture"}}  # fmt: skip
    records.sort(key=lambda item: item[0])
    return json.dumps(manifest).encode(), ("[" + ", ".join(text for _, text in records) + "]").encode()


def once(pairs: list[tuple[str, object]]) -> dict:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("doubled key")
    return value


def refuse(word: str) -> None:
    raise ValueError(word)


def counts_ok(value: dict) -> bool:
    return (
        value.keys() == COUNTS
        and all(type(count) is int and count >= 0 for count in value.values())
        and value["total_tokens"] == value["input_tokens"] + value["output_tokens"]
        and value["cached_tokens"] <= value["input_tokens"]
        and value["reasoning_tokens"] <= value["output_tokens"]
    )


def need(condition: bool, why: str) -> None:
    if not condition:
        raise ValueError(why)


def plain_manifest(manifest: dict) -> tuple[dict, dict, dict]:
    """Attempts, runs and checkpoints by id, every rule of the manifest checked."""
    need(manifest.keys() == MANIFEST, "schema")
    need(manifest["attempt_set_closed"] is True and manifest["schema_version"] == 1, "open")
    attempts, runs, points = {}, {}, {}
    owner: dict[str, str] = {}
    rosters: dict[tuple, list] = {}
    for item in manifest["attempts"]:
        need(item.keys() == {"attempt_id", "case_id", "replicate_id", "retry_index", "outcome", "run_ids"}, "schema")
        need(all(ID.fullmatch(item[key]) for key in ("attempt_id", "case_id", "replicate_id")), "id")
        need(type(item["retry_index"]) is int and item["outcome"] in ("succeeded", "failed"), "schema")
        need(item["attempt_id"] not in attempts and len(item["run_ids"]) > 0, "doubled")
        attempts[item["attempt_id"]] = item
        rosters.setdefault((item["case_id"], item["replicate_id"]), []).append(item["retry_index"])
        for run_id in item["run_ids"]:
            need(run_id not in owner, "doubly assigned")
            owner[run_id] = item["attempt_id"]
    for item in manifest["runs"]:
        need(item.keys() == {"run_id", "attempt_id", "session_id", "terminal_checkpoint_id"}, "schema")
        need(bool(ID.fullmatch(item["run_id"])) and item["run_id"] not in runs, "id")
        need(item["session_id"] is None or bool(ID.fullmatch(item["session_id"])), "id")
        need(owner.get(item["run_id"]) == item["attempt_id"], "identity")
        runs[item["run_id"]] = item
    need(owner.keys() == runs.keys(), "identity")
    need(all(sorted(indices) == list(range(len(indices))) for indices in rosters.values()), "roster")
    child: dict[str, str] = {}
    for point in manifest["checkpoints"]:
        need(
            point.keys() == {"checkpoint_id", "run_id", "parent_checkpoint_id", "sequence", "state", "record_sha256"},
            "schema",
        )
        need(bool(ID.fullmatch(point["checkpoint_id"])) and bool(HASH.fullmatch(point["record_sha256"])), "id")
        need(type(point["sequence"]) is int and point["state"] in ("checkpoint", "succeeded", "failed"), "schema")
        need(point["checkpoint_id"] not in points and point["run_id"] in runs, "doubled")
        points[point["checkpoint_id"]] = point
        parent = point["parent_checkpoint_id"]
        if parent is None:
            need(point["sequence"] == 0 and f"root {point['run_id']}" not in child, "root")
            child[f"root {point['run_id']}"] = point["checkpoint_id"]
        else:
            need(parent not in child, "fork")
            child[parent] = point["checkpoint_id"]
        if point["state"] == "failed":
            need(attempts[owner[point["run_id"]]]["outcome"] == "failed", "outcome")
    for point in points.values():
        parent = point["parent_checkpoint_id"]
        if parent is not None:
            above = points[parent]
            need(above["sequence"] + 1 == point["sequence"] and above["run_id"] == point["run_id"], "sequence")
        terminal = runs[point["run_id"]]["terminal_checkpoint_id"]
        need((point["checkpoint_id"] == terminal) == (point["checkpoint_id"] not in child), "terminal")
        need(point["checkpoint_id"] != terminal or point["state"] != "checkpoint", "terminal")
    return attempts, runs, points


def plain(manifest_bytes: bytes, records_bytes: bytes) -> dict:
    """The baseline: the total of the tips, or ``ValueError``."""
    manifest = json.loads(manifest_bytes, object_pairs_hook=once, parse_constant=refuse)
    records = json.loads(records_bytes, object_pairs_hook=once, parse_constant=refuse)
    attempts, runs, points = plain_manifest(manifest)
    seen: dict[str, dict] = {}
    for record in records:
        need(record.keys() == RECORD and type(record["request_evidence"]) is list, "schema")
        point = points[record["checkpoint_id"]]
        run = runs[point["run_id"]]
        attempt = attempts[run["attempt_id"]]
        for source, keys in (
            (manifest, ("evaluation_id", "candidate_id", "schema_version")),
            (attempt, ("attempt_id", "case_id", "replicate_id")),
            (run, ("run_id", "session_id")),
            (point, ("parent_checkpoint_id", "sequence", "state")),
        ):
            for key in keys:
                if record[key] != source[key] or type(record[key]) is not type(source[key]):
                    raise ValueError("identity")
        if record["boundary"] != "top_level" or record["coverage_complete"] is not True:
            raise ValueError("coverage")
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if hashlib.sha256(text.encode()).hexdigest() != point["record_sha256"] or not counts_ok(record["usage"]):
            raise ValueError("digest")
        total = dict.fromkeys(COUNTS, 0)
        for request in record["request_evidence"]:
            need(request.keys() == {"request_id", "provider", "raw_usage", "normalized"}, "schema")
            need(request["provider"] == "openai.responses", "provider")
            raw, counts = request["raw_usage"], request["normalized"]
            made = {
                "requests": 1,
                "input_tokens": raw["input_tokens"],
                "output_tokens": raw["output_tokens"],
                "total_tokens": raw["total_tokens"],
                "cached_tokens": raw["input_tokens_details"]["cached_tokens"],
                "reasoning_tokens": raw["output_tokens_details"]["reasoning_tokens"],
            }
            if (
                not counts_ok(counts)
                or not counts_ok(made)
                or made != counts
                or not ID.fullmatch(request["request_id"])
            ):
                raise ValueError("request")
            for key in COUNTS:
                total[key] += counts[key]
        if total != record["usage"]:
            raise ValueError("sum")
        need(record["checkpoint_id"] not in seen or seen[record["checkpoint_id"]] == record, "conflict")
        seen[record["checkpoint_id"]] = record
    need(seen.keys() == points.keys(), "missing")
    owner: dict[str, str] = {}
    totals = dict.fromkeys(COUNTS, 0)
    for name, record in seen.items():
        if record["parent_checkpoint_id"] is not None:
            before = seen[record["parent_checkpoint_id"]]["request_evidence"]
            if record["request_evidence"][: len(before)] != before:
                raise ValueError("prefix")
        if name == runs[record["run_id"]]["terminal_checkpoint_id"]:
            for request in record["request_evidence"]:
                if owner.setdefault(request["request_id"], record["run_id"]) != record["run_id"]:
                    raise ValueError("reuse")
            for key in COUNTS:
                totals[key] += record["usage"][key]
    return totals


def timed(work, *args: object) -> tuple[float, object]:
    gc.collect()
    start = time.process_time()
    result = work(*args)
    return time.process_time() - start, result


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [20_000, 66_667]
    for number, n_chains in enumerate(sizes):
        manifest, records = make(n_chains)
        n_records = n_chains * 3
        turns = 1 if number else 3
        ours, base = [], []
        for _ in range(turns):
            ours.append(timed(reduce_fast_bytes, manifest, records))
            base += [] if number else [timed(plain, manifest, records)]
        fast, result = min(ours, key=lambda item: item[0])
        print(f"{n_records:>9,} records in {n_chains:,} chains, {len(records) / 1e6:,.0f} MB: {fast:6.2f} s, "
              f"{fast / n_records * 1e6:.1f} us a record")  # fmt: skip
        if number:
            continue
        slow, totals = min(base, key=lambda item: item[0])
        assert result["totals"] == totals, (result, totals)
        print(f"{'plain reducer':>32}: {slow:6.2f} s   ratio {slow / fast:.1f}x (from bytes)")
        objects = json.loads(manifest), json.loads(records)
        memory, again = min((timed(reduce_usage, *objects) for _ in range(3)), key=lambda item: item[0])
        careful, third = timed(reduce_careful, *objects)
        assert again == third == result
        print(f"{'reduce_usage on parsed objects':>32}: {memory:6.2f} s   the careful way alone: {careful:6.2f} s")
        del objects


if __name__ == "__main__":
    main()
