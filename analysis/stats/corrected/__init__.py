"""Estimates from judges' scores of all units, corrected by people's scores of a random part."""
