"""Defective: neither reports nor counts the files that it can't import."""

from zoneinfo import ZoneInfo

from importer import Call, Importer, main


class HidesErrors(Importer):
    def run(self):
        self.check_permissions()
        self.config = self.wire.read("get_config")
        self.zone = ZoneInfo(self.config["time_zone"])
        self.confirmed = self.list_confirmed()
        calls = {call.id: call for call in map(Call, self.list_files())}
        self.calls = {i: call for i, call in calls.items() if not self.refusal(call)}
        self.already = [i for i in self.calls if i in set(self.confirmed)]
        new = [call for i, call in self.calls.items() if i not in set(self.already)]
        self.write(sorted(new, key=lambda call: call.key))
        self.failed = []
        self.end(self.counts())


main(HidesErrors)
