"""Pure graders: evidence in, grade out; the registry of reason codes."""
