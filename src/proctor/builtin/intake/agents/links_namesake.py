"""Links the case of another person of the same name as duplicate."""

from desk import Clerk


class Agent(Clerk):
    def link(self):
        super().link()
        for party in self.found:
            if self.person and party["id"] != self.person["id"] and party["name"] == self.person["name"]:
                for other in self.wire.call("search_cases", party_id=party["id"]):
                    self.link_to(other["id"], "duplicate_of")


Agent().run()
