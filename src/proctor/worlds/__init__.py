"""What a world is: a SQLite database plus tools; snapshot, reset, hash, diff; fault schedules."""
