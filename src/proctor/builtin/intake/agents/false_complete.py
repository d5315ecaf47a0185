"""Calls a case complete though it has just noted what is outstanding."""

from desk import Clerk


class Agent(Clerk):
    def decide(self):
        super().decide()
        if self.status == "awaiting_documents":
            self.status = "complete"

    def sentences(self):
        return list(super().sentences())[:-1]


Agent().run()
