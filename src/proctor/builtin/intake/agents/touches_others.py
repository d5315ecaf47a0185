"""Writes into the cases that it links."""

from desk import Clerk


class Agent(Clerk):
    def link_to(self, other_id, kind):
        super().link_to(other_id, kind)
        self.wire.call("write_note", case_id=other_id, text=f"See {self.case_id}.")


Agent().run()
