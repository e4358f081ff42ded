"""What writes: reports made in the background, uploaded tables, saved views."""
