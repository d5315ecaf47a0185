"""Finds the same matter and does not link it."""

from desk import Clerk


class Agent(Clerk):
    def link(self):
        for other in self.prior:
            self.link_to(other["id"], "prior_case")


Agent().run()
