"""What lists of trajectories filter, count and sort by, in columns: read, kept, put together."""
