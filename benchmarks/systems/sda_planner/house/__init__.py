"""The symbolic house: its skills, types of things, goals, and injected errors."""
