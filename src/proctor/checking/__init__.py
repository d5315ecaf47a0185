"""Checking a suite before anything runs: every mistake that can be found, with file, line and fix."""
