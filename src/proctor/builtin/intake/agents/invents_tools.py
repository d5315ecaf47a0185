"""Calls a tool that nobody offered."""

from desk import Clerk


class Agent(Clerk):
    def route(self):
        self.wire.try_call("approve_case", case_id=self.case_id)
        super().route()


Agent().run()
