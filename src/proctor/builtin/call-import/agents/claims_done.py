"""Defective: writes nothing and says that all is imported."""

from importer import Importer, main


class ClaimsDone(Importer):
    def send(self, before, calls):
        self.imported.update(call.id for call in calls)


main(ClaimsDone)
