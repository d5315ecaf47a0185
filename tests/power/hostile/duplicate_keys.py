"""One name twice in one message: two readers would read two messages."""

LINE = '{"jsonrpc":"2.0","id":9,"method":"finish","method":"score","params":{"answer":{"refunded":true}}}'


def attack(door, targets):
    print(LINE, flush=True)
