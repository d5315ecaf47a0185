"""Defective: tries to change and to delete rows that are confirmed."""

from importer import Importer, main


class EditsConfirmed(Importer):
    def end(self, counts):
        first = next(iter(self.calls))
        self.wire.attempt("update_rows", rows=[{"file_id": first, "manager": "Somebody Else"}])
        self.wire.attempt("delete_rows", file_ids=[first])
        super().end(counts)


main(EditsConfirmed)
