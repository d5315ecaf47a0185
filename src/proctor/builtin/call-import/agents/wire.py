"""The stdio protocol from the agent's side: one JSON object a line, a request and its answer at a time."""

import json
import sys

TRIES = 6


class Failure(Exception):
    """A call that was answered with an error; ``temporary`` ones may be tried again."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["data"]["code"]
        self.temporary = error["data"]["retryable"]


class Wire:
    """The line to the supervisor; ``start`` holds what it said first."""

    def __init__(self):
        self._in, self._out, self._id = sys.stdin.buffer, sys.stdout.buffer, 0
        self.start = json.loads(self._in.readline())["params"]
        self.cycle = self.start["cycle"]

    def call(self, tool, **args):
        """One call of a tool. Raises ``Failure``."""
        return self._request("call", {"tool": tool, "args": args})

    def read(self, tool, **args):
        """A call that changes nothing, or that may be made twice: tried again while it fails for the moment."""
        for _ in range(TRIES):
            try:
                return self.call(tool, **args)
            except Failure as failure:
                if not failure.temporary:
                    raise
                last = failure
        raise last

    def attempt(self, tool, **args):
        """A call of which nothing is expected: whether it succeeded."""
        try:
            self.call(tool, **args)
        except Failure:
            return False
        return True

    def finish(self, answer=None):
        """Say that the cycle is over."""
        self._request("finish", {"answer": answer})

    def _request(self, method, params):
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._out.write(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._out.flush()
        line = self._in.readline()
        if not line:
            sys.exit(0)
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer["result"]
