"""What must hold before a change ships, and the decision."""
