"""Agents, models and conditions against each other, mostly paired by task."""
