"""The files that a report is written to: LaTeX tables, figures as PDF, reports as one file."""
