"""Carries something from one cell to the next: in its home, its folder, the temporary folder, shared memory."""

import os
import pathlib
import secrets


def attack(door, targets):
    places = [os.environ["HOME"], os.environ["TMPDIR"], os.getcwd(), "/tmp", "/var/tmp", "/dev/shm", "/run"]
    for place in dict.fromkeys(places):
        note = pathlib.Path(place) / "note-to-myself"
        try:
            door.loot(f"remembered {note.read_text()}")
        except OSError:
            pass
        try:
            note.write_text(secrets.token_hex(8))
        except OSError:
            pass
