"""Consequences of careless work: a rule on known answers, and signs of speed and equal answers."""
