"""One thin file per command: parsing, calling, exit code."""
