"""People's decisions about rows of training data."""

from django.conf import settings as django_settings
from django.db import models

from benchmarks.models.trajectories import Trajectory


class RowDecision(models.Model):
    """A person's decision about a row that a step proposes; rows are added and never changed.

    A row is known by its trajectory, the index of the turn, and the choice (which text of the step
    is proposed). The newest decision is in force; ``undoes`` marks one that takes another back, so
    that the one before it is in force again. ``proposed`` is the text that the person saw, ``text``
    what it was replaced by.
    """

    class Verdict(models.TextChoices):
        ACCEPTED = "accepted", "Accepted"
        EDITED = "edited", "Edited"
        VETOED = "vetoed", "Vetoed"
        UNDONE = "undone", "Undone"

    # The index below begins with the trajectory.
    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="row_decisions", db_index=False
    )
    index = models.PositiveSmallIntegerField()
    choice = models.CharField(max_length=20)
    verdict = models.CharField(max_length=10, choices=Verdict)
    proposed = models.TextField()
    text = models.TextField(blank=True)
    undoes = models.OneToOneField("self", null=True, blank=True, on_delete=models.CASCADE)
    person = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["trajectory", "index", "choice"], name="row_decisions")]

    def __str__(self) -> str:
        return f"{self.verdict} {self.trajectory_id}.{self.index} {self.choice}"
