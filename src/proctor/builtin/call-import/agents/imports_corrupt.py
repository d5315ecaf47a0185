"""Defective: imports files that the source flags as corrupt."""

from importer import Importer, main


class ImportsCorrupt(Importer):
    def refusal(self, call):
        return super().refusal(call) if not call.file["corrupt"] else ""


main(ImportsCorrupt)
