"""Leaves the outstanding items out of its note."""

from desk import Clerk


class Agent(Clerk):
    def sentences(self):
        return [sentence for sentence in super().sentences() if "Outstanding" not in sentence]


Agent().run()
