"""Branches: trajectories that share the log of another one up to some step."""

from django.db import models

from benchmarks.models.trajectories import Trajectory


class Branch(models.Model):
    """Where a trajectory of a branch run leaves the trajectory that it branches from.

    Its log is that of ``parent`` before step ``steps``, and its own exchanges. With
    ``edited_slot``, an answer of its own stands in that slot of the last shared step in place of
    the parent's. ``turn`` is the turn in which it leaves the parent.
    """

    class Arm(models.TextChoices):
        EDITED = "edited", "Another answer"
        KEPT = "kept", "Same answer"
        AGAIN = "again", "Asked again"

    trajectory = models.OneToOneField(
        Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="branch"
    )
    parent = models.ForeignKey(Trajectory, on_delete=models.RESTRICT, related_name="branches")
    steps = models.PositiveSmallIntegerField()
    turn = models.PositiveSmallIntegerField()
    arm = models.CharField(max_length=6, choices=Arm.choices)
    edited_slot = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["trajectory"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(arm="edited", edited_slot__isnull=False, steps__gt=0)
                | models.Q(arm__in=["kept", "again"], edited_slot__isnull=True),
                name="branch_edit",
            )
        ]

    def __str__(self) -> str:
        return f"branch of trajectory {self.parent_id} at turn {self.turn}"
