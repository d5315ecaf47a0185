"""Reads the same page over and over before it dares to answer."""

from desk import Desk

desk = Desk()
for _ in range(12):
    desk.read()
desk.finish(*desk.triage())
