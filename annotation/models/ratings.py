"""What annotators said: every edit is kept, the current value is derived from them."""

from django.conf import settings as django_settings
from django.db import models

from annotation.models.studies import Assignment


class RatingEdit(models.Model):
    """One click or one written remark. Rows are only ever added.

    ``client_id`` is made where the click happened, so that sending it twice stores it once. An
    undo names the edit that it takes back in ``undoes`` and holds the value that it leads back to,
    null where there was none before.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="edits")
    question = models.CharField(max_length=60)
    value = models.SmallIntegerField(null=True)
    text = models.TextField(blank=True)
    client_id = models.UUIDField(unique=True)
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="undone_by"
    )
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    client_time = models.DateTimeField(null=True, blank=True)
    edited_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.question} {self.value}"


class Rating(models.Model):
    """The current answer to one question about one assignment, as its edits have it.

    ``version`` counts the edits, so that a page can tell whether it shows the latest.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    question = models.CharField(max_length=60)
    value = models.SmallIntegerField(null=True)
    text = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    edit = models.ForeignKey(
        RatingEdit, on_delete=models.RESTRICT, related_name="+", db_index=False
    )
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "question"], name="rating_identity")
        ]

    def __str__(self) -> str:
        return f"{self.question} {self.value}"
