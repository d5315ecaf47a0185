"""Defective: appends late files at the end instead of inserting them where they belong."""

from importer import Importer, main


class BreaksOrder(Importer):
    def send(self, before, calls):
        super().send(None, calls)


main(BreaksOrder)
