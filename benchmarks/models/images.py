"""Images in imported messages."""

from django.db import models

from benchmarks.models.trajectories import Trajectory


class TrajectoryImage(models.Model):
    """An image of a message, once for each trajectory; messages name it by its digest.

    ``data`` is Base64, as files hold it, so that every backup and archive takes it as a text.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="images", db_index=False
    )
    digest = models.CharField(max_length=32)
    media_type = models.CharField(max_length=20)
    data = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["trajectory", "digest"], name="trajectory_image")
        ]

    def __str__(self) -> str:
        return f"image {self.digest} of {self.trajectory_id}"
