"""Is a recorded run intact, and is it complete? Two answers, from the folder and a believed key alone."""
