"""Leaves processes behind that forked twice, left the session and go on writing."""

import os
import time


def attack(door, targets):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execv(targets["python"], [targets["python"], "-c", "import time; time.sleep(300)", targets["mark"]])
            os._exit(0)
    time.sleep(0.3)
