"""Defective: sends rows again after a temporary error without looking whether they are there."""

from importer import Importer, main


class DuplicatesAfterLostAnswer(Importer):
    def arrived(self, rows):
        return False


main(DuplicatesAfterLostAnswer)
