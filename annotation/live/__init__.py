"""Live sessions: making them, sitting down, playing, and what happens when somebody leaves.

Whoever locks several things does so in this order: the session, the trajectory, its run.
"""
