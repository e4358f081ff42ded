"""A page with every part of the design system, for tests and for looking at."""
