"""Notes all outstanding items but the first."""

from desk import Clerk


class Agent(Clerk):
    def items(self):
        return self.outstanding[1:]


Agent().run()
