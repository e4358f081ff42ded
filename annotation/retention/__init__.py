"""Retention times of a study: what is removed how long after it was closed."""
