"""Signals of runs, for apps that this one does not know."""

from django.dispatch import Signal

# Sent with ``run_id`` once the last trajectory of a run has ended and that is committed.
run_ended = Signal()
