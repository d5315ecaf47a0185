"""One line of 100 MB."""

import os


def attack(door, targets):
    for _ in range(100):
        os.write(1, b"a" * 1_000_000)
    os.write(1, b"\n")
