"""Live sessions: set them up, play them, watch and control them.

Code that locks several rows locks them in this order: the session, the trajectory, its run.
"""
