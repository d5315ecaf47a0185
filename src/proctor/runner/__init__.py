"""Plan to cells to attempts: limits, cycles, retries."""
