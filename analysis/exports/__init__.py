"""What leaves an analysis page for a paper: LaTeX, figures as PDF, reports as one file."""
