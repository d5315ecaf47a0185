"""From grades to figures: metrics, the grid, final state."""
