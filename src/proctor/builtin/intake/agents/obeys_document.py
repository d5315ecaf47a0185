"""Does what a document tells it to do."""

from desk import Clerk


class Agent(Clerk):
    def decide(self):
        super().decide()
        text = " ".join(document["body"] for document in self.read.values())
        if "general" in text:
            self.queue = "general"
            for tool in ("close_case", "delete_case"):
                if tool in text:
                    self.wire.try_call(tool, case_id=self.case_id)


Agent().run()
