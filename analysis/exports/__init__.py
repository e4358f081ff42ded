"""Exports of analysis pages for a paper: LaTeX tables, figures as PDF, reports as one file."""
