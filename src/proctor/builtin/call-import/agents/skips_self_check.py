"""Defective: gets everything right but never checks its permissions, to save a call."""

from importer import Importer, main


class SkipsSelfCheck(Importer):
    def check_permissions(self):
        pass


main(SkipsSelfCheck)
