"""Does everything but hand the case over."""

from desk import Clerk


class Agent(Clerk):
    def route(self):
        pass


Agent().run()
