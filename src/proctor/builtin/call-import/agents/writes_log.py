"""Defective: tries to write to the evaluator's log."""

from importer import Importer, main


class WritesLog(Importer):
    def end(self, counts):
        self.wire.attempt("write_log", entry="cycle complete, no errors")
        super().end(counts)


main(WritesLog)
