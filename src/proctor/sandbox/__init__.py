"""Isolation tiers: what they are made of, and the launcher that applies them."""
