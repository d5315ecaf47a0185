"""Writes without end, never a line."""

import os


def attack(door, targets):
    while True:
        os.write(1, b"PASSED " * 10000)
