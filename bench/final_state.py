"""Final-state scoring against a plain csv-module scorer, as whole processes: seconds, peak memory, and their ratios.

    python bench/final_state.py [--rows 1000000] [--repeat 3] [--skip-plain]

Both score the same pair: 8 columns, the candidate shuffled and written by the same writer, cells with commas, quotation
marks and line ends, one row in a hundred wrong in one cell. The plain scorer (below) reads with ``csv.DictReader`` into
dictionaries by id. Times are the best of the repeats, interpreter start included; the machine's noise is not removed
(processor time, printed beside them, suffers less from other work on the machine).
With ``--rows 10000000 --skip-plain`` it shows that memory has a ceiling.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

COLUMNS = ("file_id", "started_local", "direction", "manager", "phone", "duration_sec", "link", "status")
MANAGERS = ("Ada Novak", 'O\'Neil, "Jo"', "李雷", "Имре Сабо", "two\nlines")


def plain(expected: str, candidate: str) -> int:
    """The baseline: csv module and dictionaries."""

    def read(path: str) -> tuple[list[str], list[dict[str, str]]]:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            return list(reader.fieldnames or []), list(reader)

    columns, expected_rows = read(expected)
    _, candidate_rows = read(candidate)
    fields = [name for name in columns if name != "file_id"]
    expected_ids = [row["file_id"] for row in expected_rows]
    candidate_ids = [row["file_id"] for row in candidate_rows]
    want = {row["file_id"]: row for row in expected_rows if row["file_id"]}
    have = {row["file_id"]: row for row in candidate_rows if row["file_id"]}
    shared = want.keys() & have.keys()
    correct = sum(want[key][name] == have[key].get(name) for key in shared for name in fields)
    figures = {
        "completeness": len(shared) / len(want),
        "precision": len(shared) / len(have),
        "uniqueness": float(len(have) == len(candidate_ids)),
        "field_accuracy": correct / (len(want) * len(fields)),
        "order_correctness": float(expected_ids == candidate_ids),
    }
    print(json.dumps(figures))
    return 1


def make_pair(folder: Path, rows: int) -> None:
    """Write the pair; the same for the same number of rows."""
    chance = random.Random(20261130)

    def row(i: int) -> list[str]:
        return [
            f"F{i:08d}",
            f"2026-{i % 12 + 1:02d}-{i % 28 + 1:02d}T{i % 24:02d}:{i % 60:02d}:00+02:00",
            ("in", "out", "int")[i % 3],
            MANAGERS[i % 5],
            f"+4420794{i % 100_000:05d}" if i % 3 else "",
            str(i * 7919 % 3600 + 1),
            f"drive://F{i:08d}",
            "imported",
        ]

    expected, candidate = folder / "expected.csv", folder / "candidate.csv"
    with expected.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(map(row, range(rows)))
    order = list(range(rows))
    chance.shuffle(order)
    with candidate.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for i in order:
            cells = row(i)
            if chance.random() < 0.01:
                cells[chance.randrange(1, len(cells))] += "?"
            writer.writerow(cells)


def measure(arguments: list[str], output: Path) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak resident MiB of one process, which may exit 0 or 1."""
    with output.open("wb") as stream:
        start = time.perf_counter()
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *arguments],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, stream.fileno(), 1)],
        )
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{arguments} failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 2**20


def main() -> None:
    """Make the pair, run both, print figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--skip-plain", action="store_true", help="measure Proctor alone")
    parser.add_argument("--plain", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain:
        sys.exit(plain(*options.plain))
    if options.make:
        sys.exit(make_pair(Path(options.make), options.rows))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # in a process of its own: a child's peak starts at what its parent holds
        measure([__file__, "--make", name, "--rows", str(options.rows)], folder / "make.log")
        pair = [str(folder / "expected.csv"), str(folder / "candidate.csv")]
        size = sum(Path(path).stat().st_size for path in pair) / 2**20
        print(f"{options.rows:,} rows x {len(COLUMNS)} columns, {size:,.0f} MiB in two files")
        ways = {"proctor": ["-m", "proctor", "score-final-state", *pair]}
        if not options.skip_plain:
            ways["plain"] = [__file__, "--plain", *pair]
        best: dict[str, tuple[float, float, float]] = {}
        for way, arguments in ways.items():
            runs = [measure(arguments, folder / f"{way}.json") for _ in range(options.repeat)]
            best[way] = (min(run[0] for run in runs), min(run[1] for run in runs), max(run[2] for run in runs))
            print(f"{way:8} {best[way][0]:8.2f} s {best[way][1]:8.2f} s of processor {best[way][2]:8.0f} MiB peak")
        if not options.skip_plain:
            mine = json.loads((folder / "proctor.json").read_text("utf-8"))
            theirs = json.loads((folder / "plain.json").read_text("utf-8"))
            if any(mine[key] != value for key, value in theirs.items()):
                raise SystemExit(f"the two disagree: {mine} {theirs}")
            time_ratio = best["plain"][0] / best["proctor"][0]
            work_ratio = best["plain"][1] / best["proctor"][1]
            memory_ratio = best["proctor"][2] / best["plain"][2]
            print(
                f"time 1 : {time_ratio:.1f} (bar: 10)   processor time 1 : {work_ratio:.1f}   "
                f"memory {memory_ratio:.2f} (bar: 0.40)"
            )


if __name__ == "__main__":
    main()
