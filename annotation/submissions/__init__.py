"""Submissions of others, for managers: read one, send it back, void it, restore it."""
