"""Facts of trajectories, by run, in columns: derived, and made anew when a run has changed."""

from django.db import models

from benchmarks.models import Run


class RunFacts(models.Model):
    """What lists of trajectories filter and sort by, for all trajectories of one run.

    ``version`` is that of everything the facts were read from; ``columns`` is what
    `analysis.trajectory_index` packs. Rows may be deleted at any time: they are read again.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="facts"
    )
    version = models.CharField(max_length=64)
    trajectories = models.PositiveIntegerField()
    columns = models.BinaryField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "run facts"

    def __str__(self) -> str:
        return f"facts of run {self.run_id}"
