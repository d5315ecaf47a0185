"""Sends whatever is complete to the general queue."""

from desk import Clerk


class Agent(Clerk):
    def type_queue(self):
        return "general"


Agent().run()
