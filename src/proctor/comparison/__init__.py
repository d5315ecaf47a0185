"""A baseline against a candidate, paired by cell. Pure."""
