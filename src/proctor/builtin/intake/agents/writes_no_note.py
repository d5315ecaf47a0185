"""Hands over without a note."""

from desk import Clerk


class Agent(Clerk):
    def write_note(self):
        pass


Agent().run()
