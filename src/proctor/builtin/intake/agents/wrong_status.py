"""Rejects what merely lacks a document."""

from desk import Clerk


class Agent(Clerk):
    def decide(self):
        super().decide()
        if self.status == "awaiting_documents":
            self.status = "rejected"

    def sentences(self):
        return list(super().sentences())[:-1]


Agent().run()
