"""What pages show of an episode: versions of the plan, drawings, and the house."""
