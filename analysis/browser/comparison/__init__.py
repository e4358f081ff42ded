"""Trajectories side by side: which, aligned how, and in what they differ."""
