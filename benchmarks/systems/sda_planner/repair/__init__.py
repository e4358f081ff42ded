"""Repairing a plan: the state-dependency graph, diagnosis, subtree search, four planners."""
