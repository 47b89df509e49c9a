"""Mutated logs through every registered reader, checked against invariants; ``python -m fuzz --help``."""
