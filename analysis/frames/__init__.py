"""Rows of the database as tidy frames with declared columns; nothing is computed here but sums.

pandas is imported when the first frame is made, so that a web process starts quickly.
"""
