"""Reads the policy, follows it, cites it; the note is only a text."""

from desk import Desk

desk = Desk()
desk.read()
desk.finish(*desk.triage())
