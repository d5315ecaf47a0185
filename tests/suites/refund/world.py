# refund/world.py
from proctor import Denied, world

desk = world("""
  CREATE TABLE orders(id TEXT PRIMARY KEY, customer, cents INT, status);
  CREATE TABLE refunds(order_id REFERENCES orders, cents INT, reason);
""", clock="2026-11-30T09:00:00Z")

@desk.tool(reads="orders")
def get_order(db, id: str) -> dict:
    "Look up one order."
    return db.one("SELECT * FROM orders WHERE id = ?", id)

@desk.tool(reads="orders", writes="refunds")
def issue_refund(db, order_id: str, cents: int, reason: str) -> dict:
    "Refund an order, at most what was paid."
    if cents > get_order(db, order_id)["cents"]:
        raise Denied("more than was paid")
    return db.insert("refunds", order_id=order_id, cents=cents, reason=reason)

@desk.tool(writes="orders")
def delete_order(db, id: str) -> None:
    "Delete an order."
    db.run("DELETE FROM orders WHERE id = ?", id)
