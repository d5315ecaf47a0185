"""An answer of a tool that it makes up itself."""

LINE = '{"jsonrpc":"2.0","id":2,"result":{"id":"R1","order_id":"A7","cents":4200}}'


def attack(door, targets):
    print(LINE, flush=True)
