"""Whether what is stored of trajectories follows from their logs."""
