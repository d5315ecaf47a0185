"""Asks again for a document that is on file."""

from desk import Clerk


class Agent(Clerk):
    def items(self):
        return [*self.outstanding, *list(self.read)[:1]] if self.status == "awaiting_documents" else self.outstanding

    def decide(self):
        super().decide()
        self.read = {kind: document for kind, document in self.read.items() if kind not in self.outstanding}


Agent().run()
