"""Defective: sends rows that bring a status of their own, and then, refused, without."""

from importer import Importer, main
from wire import Failure


class SendsStatus(Importer):
    def send(self, before, calls):
        try:
            self.wire.call("append_rows", rows=[{**self.row(call), "status": "final"} for call in calls])
        except Failure as failure:
            if failure.temporary:
                self.list_confirmed()
            super().send(before, calls)


main(SendsStatus)
