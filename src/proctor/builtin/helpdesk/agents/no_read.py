"""Cites a policy that it never read."""

from desk import Desk

desk = Desk()
desk.finish(*desk.triage())
