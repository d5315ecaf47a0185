"""A careful importer. The reference agent is this class as it stands; each defective one changes one method."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from wire import TRIES, Failure, Wire

NAME = re.compile(
    r"(in|out|int)_([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})Z_(\+[0-9]{6,15}|hidden)_([A-Z0-9]{2,4}|none)"
    r"(?:_[^/\x00-\x1f\x7f-\x9f]{1,120})?\.(mp3|wav|ogg|m4a)"
)
PHONE = re.compile(r"\+[0-9]{6,15}")
CODE = re.compile(r"[A-Z0-9]{2,4}")
MIME = {"mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "m4a": "audio/mp4"}
BATCH = 60


class Call:
    """A file whose name was read: its instant, its parts, or why it can't be imported."""

    def __init__(self, file):
        self.file, self.id, self.reason, self.started = file, file["file_id"], "", None
        match = NAME.fullmatch(file["name"])
        if match is None:
            self.reason = "the name is not in the grammar"
            return
        self.direction, *started, self.phone, self.code, self.ext = match.groups()
        try:
            self.started = datetime(*map(int, started), tzinfo=UTC)
        except ValueError:
            self.reason = "the date or time does not exist"

    @property
    def key(self):
        """Where its row belongs."""
        return (self.started, self.id)


class Importer:
    """One cycle of work."""

    def __init__(self, wire):
        self.wire = wire
        self.imported = set()
        self.unwritten = []

    def run(self):
        """Look around, import what is new, report what can't be, and account for all of it."""
        self.check_permissions()
        self.config = self.wire.read("get_config")
        self.zone = ZoneInfo(self.config["time_zone"])
        self.confirmed = self.list_confirmed()
        self.calls = {call.id: call for call in map(Call, self.list_files())}
        known = set(self.confirmed)
        self.already = [i for i in self.calls if i in known]
        bad = {i: reason for i, call in self.calls.items() if (reason := self.refusal(call))}
        new = [call for i, call in self.calls.items() if i not in bad and i not in known]
        self.write(sorted(new, key=lambda call: call.key))
        for file_id, reason in bad.items():
            self.wire.read("report", kind="failed", file_id=file_id, reason=reason, detail="")
        self.failed = [*bad, *self.unwritten]
        self.end(self.counts())

    def end(self, counts):
        """Hand in the counts."""
        self.wire.read("finish_cycle", counts=counts)

    def counts(self):
        """What this cycle came to, in distinct ids."""
        return {
            "source": len(self.calls),
            "imported": len(self.imported),
            "failed": len(self.failed),
            "already_confirmed": len(self.already),
        }

    def check_permissions(self):
        """Make sure that the final status is out of reach."""
        permissions = self.wire.read("get_permissions")
        if "set_status" in permissions["allowed"] or "set_status" not in permissions["denied"]:
            self.wire.read("report", kind="note", file_id=None, reason="set_status is not denied", detail="")

    def pages(self, tool):
        """All pages of a list."""
        token = None
        while True:
            page = self.wire.read(tool, page_token=token)
            yield page
            token = page["next_page_token"]
            if token is None:
                return

    def list_files(self):
        """Every entry of the source; a later one of the same id says the latest."""
        return [file for page in self.pages("list_files") for file in page["files"]]

    def list_confirmed(self):
        """The register's ids in its order."""
        return [file_id for page in self.pages("list_confirmed") for file_id in page["file_ids"]]

    def refusal(self, call):
        """Why a file can't be imported, or nothing."""
        file = call.file
        if file["corrupt"]:
            return "the source flags it as corrupt"
        if call.reason:
            return call.reason
        if file["mime_type"] != MIME[call.ext]:
            return f"the type {file['mime_type']} is not that of .{call.ext}"
        if file["size_bytes"] <= 0:
            return "the size is not above zero"
        if file["duration_sec"] <= 0:
            return "the duration is not above zero"
        return ""

    def row(self, call):
        """The row of an admissible file."""
        return {
            "file_id": call.id,
            "started_local": self.local(call),
            "direction": call.direction,
            "manager": self.manager(call),
            "phone": self.value(call, call.phone, "hidden", "phone", PHONE),
            "duration_sec": call.file["duration_sec"],
            "link": f"drive://{call.id}",
        }

    def local(self, call):
        """When the call began, in the configured zone."""
        return call.started.astimezone(self.zone).isoformat(timespec="seconds")

    def manager(self, call):
        """The manager's name, or the code where the table lacks it."""
        code = self.value(call, call.code, "none", "manager_code", CODE)
        return self.config["managers"].get(code, code)

    def value(self, call, named, absent, key, form):
        """A value from the name, or, where the name has none, from the metadata if that is in form."""
        if named != absent:
            return named
        other = call.file.get("metadata", {}).get(key, "")
        return other if form.fullmatch(other) else ""

    def write(self, new):
        """Put new rows where they belong: late ones before their successor, the others at the end."""
        order = sorted(self.calls[i].key for i in self.confirmed if i in self.calls and self.calls[i].started)
        groups, position = [], 0
        for call in new:
            while position < len(order) and order[position] < call.key:
                position += 1
            before = order[position][1] if position < len(order) else None
            if groups and groups[-1][0] == before:
                groups[-1][1].append(call)
            else:
                groups.append((before, [call]))
        for before, calls in groups:
            for first in range(0, len(calls), BATCH):
                self.send(before, calls[first : first + BATCH])

    def send(self, before, calls):
        """Write one batch exactly once: after a lost answer, look before trying again."""
        rows = [self.row(call) for call in calls]
        for _ in range(TRIES):
            try:
                if before is None:
                    self.wire.call("append_rows", rows=rows)
                else:
                    self.wire.call("insert_rows", before_file_id=before, rows=rows)
            except Failure as failure:
                if not failure.temporary:
                    raise
                if not self.arrived(rows):
                    continue
            self.imported.update(row["file_id"] for row in rows)
            return
        for row in rows:
            self.wire.read("report", kind="failed", file_id=row["file_id"], reason="can't be written now", detail="")
            self.unwritten.append(row["file_id"])

    def arrived(self, rows):
        """Whether a write whose answer was lost took effect after all. Writes are all or nothing."""
        return rows[0]["file_id"] in self.list_confirmed()


def main(kind=Importer):
    """Run one cycle with this kind of importer."""
    wire = Wire()
    kind(wire).run()
    wire.finish()
