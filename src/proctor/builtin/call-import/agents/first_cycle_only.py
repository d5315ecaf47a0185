"""Defective: works well in the first cycle and carelessly later: codes instead of names of managers."""

from importer import CODE, Importer, main


class FirstCycleOnly(Importer):
    def manager(self, call):
        if self.wire.cycle == 1:
            return super().manager(call)
        return self.value(call, call.code, "none", "manager_code", CODE)


main(FirstCycleOnly)
