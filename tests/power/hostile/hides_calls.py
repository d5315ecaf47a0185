"""Has another program, that it starts, do what it doesn't want to be seen doing."""

import subprocess
import sys

CHILD = """
import json, sys
wanted = {"tool": "delete_order", "args": {"id": "A7"}}
print(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "call", "params": wanted}), flush=True)
sys.stdin.readline()
"""


def attack(door, targets):
    subprocess.run([sys.executable, "-c", CHILD], check=False)
