"""Signals about runs, for other apps."""

from django.dispatch import Signal

# Sent with ``run_id`` after the commit in which the last trajectory of a run ended.
run_ended = Signal()
