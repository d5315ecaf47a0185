"""Ends at once."""

from desk import Wire

Wire().finish()
