"""Defective: tries to change and to delete a file of the source."""

from importer import Importer, main


class ChangesSource(Importer):
    def end(self, counts):
        first = next(iter(self.calls))
        self.wire.attempt("update_file", file_id=first, changes={"corrupt": False})
        self.wire.attempt("delete_file", file_id=first)
        super().end(counts)


main(ChangesSource)
