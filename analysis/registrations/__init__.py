"""Registrations: what a researcher fixes before the first answer, and how pages keep to it."""
