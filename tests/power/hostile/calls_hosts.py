"""Tries to reach the world: names, addresses, the local machine, and a proxy."""

import socket
import urllib.request

# Names and addresses reserved for documentation: nobody's, should the sandbox ever have a hole.
HOSTS = ("example.com", "example.org", "example.net", "answers.example", "192.0.2.1", "198.51.100.1", "203.0.113.1")


def attack(door, targets):
    for host in (*HOSTS, "localhost", "127.0.0.1", "::1"):
        for port in (53, 80, 443):
            try:
                socket.create_connection((host, port), timeout=0.3).close()
                door.loot(f"reached {host}:{port}")
            except OSError:
                pass
    try:
        urllib.request.urlopen("http://example.com/answers.jsonl", timeout=0.5)
        door.loot("read a page")
    except OSError:
        pass
    for kind in (socket.AF_INET, socket.AF_INET6, socket.AF_PACKET, socket.AF_NETLINK):
        try:
            socket.socket(kind, socket.SOCK_DGRAM).close()
            door.loot(f"made a socket of kind {kind}")
        except OSError:
            pass
