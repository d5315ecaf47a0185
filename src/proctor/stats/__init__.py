"""Estimates and tests: intervals, clusters, resampling, power. Pure."""
