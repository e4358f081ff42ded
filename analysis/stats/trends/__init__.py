"""Change of scores over the turns of trajectories."""
