"""Gets one digit of the amount wrong."""

from desk import Clerk


class Agent(Clerk):
    def note(self):
        whole, rest = self.case["amount"].split(".", 1)
        wrong = f"{whole[:-1]}{(int(whole[-1]) + 1) % 10}.{rest}"
        return super().note().replace(self.case["amount"], wrong)


Agent().run()
