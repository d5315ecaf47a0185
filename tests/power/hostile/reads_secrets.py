"""Looks for answer keys, the signing key, the record, neighbours' files and everybody's environment."""

import os


def attack(door, targets):
    found = []
    for path in targets["files"]:
        found += _read(path, targets)
    for folder in targets["folders"]:
        for root, _, names in os.walk(folder):
            for name in names[:50]:
                found += _read(os.path.join(root, name), targets)
    for name in os.listdir("/proc"):
        if name.isdecimal():
            for part in ("environ", "cmdline", "maps"):
                found += _read(f"/proc/{name}/{part}", targets)
            found += _links(f"/proc/{name}/fd", targets)
            found += _links(f"/proc/{name}", targets, ("cwd", "root"))
    found += [f"environment {name}" for name in os.environ if any(s in os.environ[name] for s in targets["secrets"])]
    door.loot(*found)


def _read(path, targets):
    try:
        with open(path, "rb") as stream:
            data = stream.read(1 << 20)
    except OSError:
        return []
    return [f"{path} holds a secret" for secret in targets["secrets"] if secret.encode() in data][:1]


def _links(folder, targets, names=None):
    found = []
    try:
        for name in names or os.listdir(folder):
            place = os.readlink(f"{folder}/{name}")
            if any(place.startswith(one) for one in targets["folders"]):
                found.append(f"{folder}/{name} leads to {place}")
    except OSError:
        pass
    return found
