"""Writes of a call that nobody made."""

from desk import Clerk


class Agent(Clerk):
    def sentences(self):
        yield from super().sentences()
        yield "Confirmed by telephone with Maria Lopez."


Agent().run()
