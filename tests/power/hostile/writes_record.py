"""Tries to change the record, the graders and the verdict before they are read."""

import os


def attack(door, targets):
    done = []
    for path in targets["files"]:
        for what, action in ACTIONS.items():
            try:
                action(path)
                done.append(f"{what} {path}")
            except OSError:
                pass
    for folder in targets["folders"]:
        try:
            with open(os.path.join(folder, "report.json"), "x") as stream:
                stream.write('{"verdict": "PASS"}')
            done.append(f"planted in {folder}")
        except OSError:
            pass
    door.loot(*done)


def _append(path):
    with open(path, "ab") as stream:
        stream.write(b"forged")


def _truncate(path):
    os.truncate(path, 0)


def _replace(path):
    os.rename(path, path + ".gone")


ACTIONS = {"appended to": _append, "truncated": _truncate, "renamed": _replace, "removed": os.unlink}
