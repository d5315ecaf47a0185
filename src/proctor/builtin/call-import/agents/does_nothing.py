"""Defective: ends each cycle at once."""

from wire import Wire

wire = Wire()
wire.read("finish_cycle", counts={"source": 0, "imported": 0, "failed": 0, "already_confirmed": 0})
wire.finish()
