"""Defective: takes the creation time of the file for the start of the call."""

from datetime import datetime

from importer import Importer, main


class UsesCreatedAt(Importer):
    def local(self, call):
        created = datetime.fromisoformat(call.file["created_at_utc"].replace("Z", "+00:00"))
        return created.astimezone(self.zone).isoformat(timespec="seconds")


main(UsesCreatedAt)
