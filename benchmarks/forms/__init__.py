"""The forms, by page."""
