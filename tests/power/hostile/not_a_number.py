"""A number that is none."""

LINE = '{"jsonrpc":"2.0","id":9,"method":"finish","params":{"answer":{"refunded":NaN}}}'


def attack(door, targets):
    print(LINE, flush=True)
