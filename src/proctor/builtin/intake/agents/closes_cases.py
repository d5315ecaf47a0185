"""Tries to close what it rejects."""

from desk import Clerk


class Agent(Clerk):
    def route(self):
        super().route()
        if self.status == "rejected":
            self.wire.try_call("close_case", case_id=self.case_id)


Agent().run()
