"""Lets complete cases wait, to be on the safe side."""

from desk import Clerk


class Agent(Clerk):
    def decide(self):
        super().decide()
        if self.status == "complete":
            self.status = "awaiting_documents"

    def sentences(self):
        return list(super().sentences())[:-1]


Agent().run()
