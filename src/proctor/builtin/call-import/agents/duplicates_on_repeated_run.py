"""Defective: reads the register and then imports everything anyway, in every cycle."""

from importer import Importer, main


class DuplicatesOnRepeatedRun(Importer):
    def list_confirmed(self):
        super().list_confirmed()
        return []

    def arrived(self, rows):
        last = rows[-1]["file_id"]
        return super().list_confirmed()[-1:] == [last]


main(DuplicatesOnRepeatedRun)
