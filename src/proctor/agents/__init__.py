"""One file per way to drive an agent."""
