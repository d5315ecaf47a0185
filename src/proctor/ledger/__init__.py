"""The append-only log of a run: entries, Merkle tree, checkpoints, verification."""
