"""Links cases of other types as prior cases."""

from desk import Clerk


class Agent(Clerk):
    def link(self):
        super().link()
        for other in self.rest:
            self.link_to(other["id"], "prior_case")


Agent().run()
