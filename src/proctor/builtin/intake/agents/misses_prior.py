"""Links no prior case."""

from desk import Clerk


class Agent(Clerk):
    def link(self):
        for other in self.same:
            self.link_to(other["id"], "duplicate_of")


Agent().run()
