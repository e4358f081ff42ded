"""Trajectories side by side: their selection, alignment and differences."""
