"""Another honest importer, written on its own: other batches, other paths, another order of calls, the same result.

It walks the source before the register, reads names by splitting them, reports failures first, writes from the latest
call to the earliest, one batch for each gap, and after a lost answer works out anew what is missing.
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from wire import Failure, Wire

TYPES = {"mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "m4a": "audio/mp4"}
DIGITS = set("0123456789")
CODE_CHARACTERS = DIGITS | set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
MOST_ROWS = 17


def is_digits(text, low, high):
    return low <= len(text) <= high and set(text) <= DIGITS


def is_phone(text):
    return text[:1] == "+" and is_digits(text[1:], 6, 15)


def is_code(text):
    return 2 <= len(text) <= 4 and set(text) <= CODE_CHARACTERS


def is_label(text):
    return 1 <= len(text) <= 120 and not any(c == "/" or c < " " or "\x7f" <= c <= "\x9f" for c in text)


def parse(name):
    """Direction, start, phone, manager and extension; None for a name outside the grammar."""
    stem, dot, ext = name.rpartition(".")
    parts = stem.split("_", 4)
    if not dot or ext not in TYPES or len(parts) < 4 or parts[0] not in ("in", "out", "int"):
        return None
    direction, started, phone, manager = parts[:4]
    if len(parts) == 5 and not is_label(parts[4]):
        return None
    if not (is_digits(started[:8], 8, 8) and started[8:9] == "T" and is_digits(started[9:15], 6, 6)):
        return None
    if started[15:] != "Z" or not (phone == "hidden" or is_phone(phone)) or not (manager == "none" or is_code(manager)):
        return None
    return direction, started, phone, manager, ext


def instant(text):
    """The UTC instant of a start, or None where date or time don't exist."""
    numbers = [int(text[a:b]) for a, b in ((0, 4), (4, 6), (6, 8), (9, 11), (11, 13), (13, 15))]
    try:
        return datetime(*numbers, tzinfo=UTC)
    except ValueError:
        return None


def problem(file, parts):
    """What keeps a file out, or None."""
    if parts is None:
        return "unreadable name"
    if instant(parts[1]) is None:
        return "impossible start"
    if file["mime_type"] != TYPES[parts[4]]:
        return "unexpected type"
    if file["corrupt"] or file["size_bytes"] < 1 or file["duration_sec"] < 1:
        return "damaged or empty"
    return None


def to_row(file, parts, config, zone):
    direction, started, phone, code, _ = parts
    extra = file.get("metadata") or {}
    if phone == "hidden":
        phone = extra["phone"] if is_phone(extra.get("phone", "")) else ""
    if code == "none":
        code = extra["manager_code"] if is_code(extra.get("manager_code", "")) else ""
    return {
        "link": "drive://" + file["file_id"],
        "duration_sec": file["duration_sec"],
        "phone": phone,
        "manager": config["managers"].get(code, code),
        "direction": direction,
        "started_local": instant(started).astimezone(zone).isoformat(),
        "file_id": file["file_id"],
    }


def walk(wire, tool, field):
    found, token = [], None
    while True:
        page = wire.read(tool, **({"page_token": token} if token else {}))
        found += page[field]
        token = page["next_page_token"]
        if not token:
            return found


def plan(order, confirmed, rows):
    """Batches as (row before which it goes or None, ids), the latest first, none longer than ``MOST_ROWS``."""
    there, batches, successor, current = set(confirmed), [], None, []
    for file_id in reversed(order):
        if file_id in there:
            batches, successor, current = batches + ([(successor, current)] if current else []), file_id, []
        elif file_id in rows:
            current = [file_id, *current]
            if len(current) == MOST_ROWS:
                batches, successor, current = [*batches, (successor, current)], file_id, []
    return batches + ([(successor, current)] if current else [])


def write(wire, order, confirmed, rows):
    """Write until nothing is missing; after a failure look again and plan again."""
    for _ in range(20):
        batches = plan(order, confirmed, rows)
        try:
            for before, ids in batches:
                batch = [rows[i] for i in ids]
                if before is None:
                    wire.call("append_rows", rows=batch)
                else:
                    wire.call("insert_rows", rows=batch, before_file_id=before)
            return
        except Failure as failure:
            if not failure.temporary:
                raise
            confirmed = walk(wire, "list_confirmed", "file_ids")


def main():
    wire = Wire()
    files = {file["file_id"]: file for file in walk(wire, "list_files", "files")}
    parsed = {i: parse(file["name"]) for i, file in files.items()}
    problems = {i: problem(file, parsed[i]) for i, file in files.items()}
    for file_id, why in problems.items():
        if why:
            wire.read("report", kind="failed", file_id=file_id, reason=why, detail=files[file_id]["name"][:60])
    if "set_status" not in wire.read("get_permissions")["denied"]:
        raise SystemExit("this agent must not be able to set a status")
    config = wire.read("get_config")
    zone = ZoneInfo(config["time_zone"])
    confirmed = walk(wire, "list_confirmed", "file_ids")
    known = set(confirmed)
    good = [i for i, why in problems.items() if why is None]
    order = sorted(good, key=lambda i: (parsed[i][1], i))
    rows = {i: to_row(files[i], parsed[i], config, zone) for i in good if i not in known}
    write(wire, order, confirmed, rows)
    already = sum(i in known for i in good)
    failed = sum(why is not None for why in problems.values())
    counts = {"already_confirmed": already, "failed": failed, "imported": len(rows), "source": len(files)}
    wire.read("finish_cycle", counts=counts)
    wire.finish()


main()
