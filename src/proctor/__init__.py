"""Proctor evaluates AI agents that act in stateful worlds, and gives verdicts that stand up."""

from proctor._version import __version__

__all__ = ["__version__"]
