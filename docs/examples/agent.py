"""An agent for the refund suite. It uses nothing but Python's own library."""

import json
import re
import sys
import time


def receive():
    """The next message; without one the supervisor is gone, and so are we."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(1)
    return json.loads(line)


def request(method, **params):
    """Ask and wait. Returns (result, error), of which one is None; what is temporary is tried again."""
    for attempt in range(1, 6):
        request.last += 1
        message = {"jsonrpc": "2.0", "id": request.last, "method": method, "params": params}
        print(json.dumps(message), flush=True)  # one line, and flushed: nothing is answered before it is read
        answer = receive()
        error = answer.get("error")
        if error is None:
            return answer["result"], None
        if not error["data"]["retryable"]:
            return None, error
        time.sleep(0.01 * attempt)
    return None, error


request.last = 0
start = receive()["params"]
assert start["protocol"] == "proctor.agent/1"
print("tools:", ", ".join(tool["name"] for tool in start["tools"]), file=sys.stderr)  # stderr is for notes

said, _ = request("say", text="How can I help you?")
order_id = re.search(r"[A-Z]\d+", said["text"])
refunded = False
if order_id:
    order, error = request("call", tool="get_order", args={"id": order_id[0]})
    if order and order["status"] == "lost":
        request("say", text="It is lost. Shall I refund it?")
        arguments = {"order_id": order["id"], "cents": order["cents"], "reason": "lost"}
        booked, error = request("call", tool="issue_refund", args=arguments)
        refunded = booked is not None
request("finish", answer={"refunded": refunded})
