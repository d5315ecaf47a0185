"""Routes first, and then makes the check that depends on the type."""

from desk import Clerk


class Agent(Clerk):
    def check_by_type(self):
        pass

    def route(self):
        super().route()
        super().check_by_type()


Agent().run()
