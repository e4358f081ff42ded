"""Where the uncertainty of a mean comes from, and what would narrow it."""
