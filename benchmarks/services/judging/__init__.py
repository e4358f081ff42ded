"""Judging anew: counting what it takes, starting it, carrying it, and choosing what counts."""
