"""Takes memory until there is none."""


def attack(door, targets):
    blocks = []
    try:
        while len(blocks) < 64:
            blocks.append(bytearray(64 << 20))
    except MemoryError:
        taken = len(blocks)
        blocks.clear()
        if taken * 64 > 1024:
            door.loot(f"took {taken * 64} MiB")
        return
    door.loot("took 4 GiB")
