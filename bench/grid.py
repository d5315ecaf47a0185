"""Scoring recorded results, whole process, file to report: cells per second, growth from 1,000 to 1,000,000 cells,
peak memory, and the ratio to a plain scorer in the same run.

The plain scorer is what a team would write on an afternoon: the standard library's ``json``, equally strict on
duplicate keys, one dictionary of results, the same seven labels, the same report. Not every check of Proctor's is in
it (policy, contract, shapes), which favours it.

    python bench/grid.py [--most CELLS]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 3
POLICY = {"normal": ("normal", 24), "urgent": ("urgent", 4)}


def write_grid(folder: Path, cells: int) -> tuple[Path, Path]:
    """A dataset and results, shuffled, about one cell in fifty failing in one of several ways."""
    rng = random.Random(cells)
    dataset, results = folder / f"dataset-{cells}.jsonl", folder / f"results-{cells}.jsonl"
    rows = []
    with dataset.open("w", encoding="utf-8") as stream:
        for number in range(cells // REPEATS):
            severity = rng.choice(("normal", "urgent", "unknown"))
            label, hours = POLICY.get(severity, ("abstain", None))
            answer = {"label": label, "sla_hours": hours, "evidence": ["policy-v1"]}
            read = [{"tool": "read", "target": "policy-v1"}]
            case = {
                "version": "helpdesk-v1",
                "id": f"K{number:07d}",
                "slice": rng.choice(("common", "edge", "security")),
                "input": {"severity": severity, "note": f"ticket {number}: 打印机 doesn't print"},
                "expected": answer,
                "allowed": read,
                "budget": {"tokens": 200, "latency_ms": 500},
            }
            stream.write(json.dumps(case, ensure_ascii=False) + "\n")
            for run in range(1, REPEATS + 1):
                usage = {"tokens": rng.randint(50, 200), "latency_ms": round(rng.uniform(50, 500), 1)}
                given = {**answer, "label": "normal"} if rng.random() < 0.02 else answer
                row = {"version": "helpdesk-v1", "candidate": "bench", "case_id": case["id"], "run": run}
                rows.append(json.dumps({**row, "status": "ok", "answer": given, "actions": read, "usage": usage}))
    rng.shuffle(rows)
    results.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return dataset, results


PLAIN = r"""
import collections, hashlib, json, sys
def pairs(items):
    out = dict(items)
    if len(out) != len(items): raise SystemExit("duplicate key")
    return out
read = lambda path: [json.loads(l, object_pairs_hook=pairs) for l in open(path, encoding="utf-8", newline="\n")]
cases, rows = read(sys.argv[1]), read(sys.argv[2])
done = {}
for r in rows:
    key = r["case_id"], r["run"]
    if key in done: raise SystemExit("twice")
    done[key] = r
cells = []
for c in cases:
    allowed = {(a["tool"], a["target"]) for a in c["allowed"]}
    for run in (1, 2, 3):
        r = done.get((c["id"], run)); f = []
        if r is None: f = ["missing"]
        else:
            a, e = r["answer"], c["expected"]
            if r["status"] != "ok": f.append("execution")
            if (a["label"], a["sla_hours"]) != (e["label"], e["sla_hours"]): f.append("fact")
            acts = [(x["tool"], x["target"]) for x in r["actions"]]
            if a["evidence"] != e["evidence"] or ("read", "policy-v1") not in acts: f.append("evidence")
            if any(x not in allowed for x in acts): f.append("unauthorized")
            if any(r["usage"][k] > c["budget"][k] for k in c["budget"]): f.append("budget")
        cells.append({"case_id": c["id"], "run": run, "slice": c["slice"], "failures": f, "passed": not f})
counts = collections.Counter(x for c in cells for x in c["failures"])
digest = hashlib.sha256(json.dumps(cases, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
passed = sum(c["passed"] for c in cells)
json.dump({"passed": passed, "counts": counts, "sha": digest, "cells": cells}, open(sys.argv[3], "w"))
"""


def measured(command: list[str], out: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory (MB) of a whole process that must write ``out``."""
    out.unlink(missing_ok=True)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": "0"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode not in (0, 1) or not out.is_file():
        raise SystemExit(f"{command[:4]} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write_grid(Path(arguments.write[0]), int(arguments.write[1]))
        return
    measure(arguments.most)


def measure(most: int) -> None:
    sizes = [n - n % REPEATS for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= most]
    points = []
    print(f"{'cells':>10} {'wall s':>8} {'CPU s':>8} {'cells/s wall':>13} {'cells/s CPU':>12} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            # In a process of its own: a child's peak memory starts from that of the process that made it.
            subprocess.run([sys.executable, __file__, "--write", str(folder), str(size)], check=True)
            dataset, results = folder / f"dataset-{size}.jsonl", folder / f"results-{size}.jsonl"
            out = folder / "report.json"
            arguments = ["score", str(dataset), str(results), "bench", "--out", str(out)]
            wall, cpu, peak = min(
                measured([sys.executable, "-m", "proctor", *arguments], out) for _ in range(3 if size < 500_000 else 1)
            )
            points.append((size, wall, cpu, peak))
            print(f"{size:>10,} {wall:>8.2f} {cpu:>8.2f} {size / wall:>13,.0f} {size / cpu:>12,.0f} {peak:>8.0f}")
            if size == 99_999:
                plain = [sys.executable, "-c", PLAIN, str(dataset), str(results), str(folder / "plain.json")]
                p_wall, p_cpu, p_peak = min(measured(plain, folder / "plain.json") for _ in range(2))
                print(
                    f"{'plain':>10} {p_wall:>8.2f} {p_cpu:>8.2f} {size / p_wall:>13,.0f} {size / p_cpu:>12,.0f}"
                    f" {p_peak:>8.0f}   Proctor: {p_cpu / cpu:.2f}x its speed, {peak / p_peak:.2f}x its memory"
                )
            dataset.unlink()
            results.unlink()
    start = points[0][2]
    line = [(math.log(size), math.log(max(cpu - start, 1e-3))) for size, _, cpu, _ in points if size >= 9_000]
    print(f"start-up (the smallest grid, CPU): {start:.2f} s")
    if len(line) >= 2:
        mean_x, mean_y = (sum(p[i] for p in line) / len(line) for i in (0, 1))
        slope = sum((x - mean_x) * (y - mean_y) for x, y in line) / sum((x - mean_x) ** 2 for x, _ in line)
        print(f"slope of log(CPU beyond start-up) over log(cells), from 10,000 on: {slope:.3f} (1 is linear)")


if __name__ == "__main__":
    main()
