"""Defective: writes every start in UTC, whatever zone is configured."""

from importer import Importer, main


class IgnoresZone(Importer):
    def local(self, call):
        return call.started.isoformat(timespec="seconds")


main(IgnoresZone)
