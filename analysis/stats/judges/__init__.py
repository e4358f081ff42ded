"""Judges: panels of them, their spread, repeats, re-judging and calibration to people."""
