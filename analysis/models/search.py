"""How far the index of words is."""

from django.db import models

from benchmarks.models import Run


class IndexedRun(models.Model):
    """A run whose turns are in the index of words, all of them or those that came first.

    ``version`` is the run's ``data_version`` when all its turns were in; None while they are being
    taken in. ``last_turn`` is the newest turn of any run that was there then. Rows may be deleted
    at any time: what is in the index already is not taken in again.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="indexed"
    )
    version = models.PositiveIntegerField(null=True)
    trajectories = models.PositiveIntegerField(default=0)
    last_turn = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"index of run {self.run_id}"
