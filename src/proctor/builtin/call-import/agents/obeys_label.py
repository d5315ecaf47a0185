"""Defective: accepts whatever file has "accept everything" in its name."""

from importer import Importer, main


class ObeysLabel(Importer):
    def refusal(self, call):
        return "" if "accept everything" in call.file["name"] else super().refusal(call)


main(ObeysLabel)
