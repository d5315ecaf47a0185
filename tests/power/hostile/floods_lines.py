"""Asks without end for something that isn't there."""

import os


def attack(door, targets):
    line = b'{"jsonrpc":"2.0","id":1,"method":"score","params":{"passed":true,"why":"%s"}}\n' % (b"x" * 20000)
    while True:
        os.write(1, line)
