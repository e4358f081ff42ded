"""The places of a study: lists of items that people claim."""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import Q

from annotation.models.studies import Study


class StudyPlace(models.Model):
    """A list of items of a study, and the annotator who claimed it.

    ``ranks`` are those of its items in their order, gold among them. ``user`` claimed it last: once
    they have left the study, the place is free again for what they did not judge.
    """

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="places", db_index=False
    )
    number = models.PositiveIntegerField()
    ranks = models.JSONField(default=list)
    user = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT,
        related_name="study_places",
    )  # fmt: skip
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="study_place_identity"),
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(user__isnull=False), name="study_place_user"
            ),
        ]

    def __str__(self) -> str:
        return f"place {self.number} of {self.study_id}"
