"""Answers of annotators: every edit is kept, and the current value is derived from the edits."""

from django.conf import settings as django_settings
from django.db import models

from annotation.models.append_only import AppendOnly
from annotation.models.items import Assignment


class Aspect(models.TextChoices):
    """The part of an answer: the answer itself, or something beside it."""

    ANSWER = "answer", "Answer"
    COMMENT = "comment", "Comment"
    FLAG = "flag", "Flag"
    EVIDENCE = "evidence", "Evidence"


class PlacedAnswer(models.Model):
    """A place for an answer, and an answer.

    The place is a question, the part of the item that it is asked of (``subject``, such as
    ``turn-3``; empty for the whole item) and an aspect; a remark on the whole item has no question.
    Scores and choices are a ``value``, a set of marks is ``chosen`` (an empty list says that
    nothing is to be marked; null that nothing was said), words are ``text``.
    """

    question = models.CharField(max_length=60, blank=True)
    subject = models.CharField(max_length=80, blank=True)
    aspect = models.CharField(max_length=10, choices=Aspect.choices, default=Aspect.ANSWER)
    value = models.SmallIntegerField(null=True)
    chosen = models.JSONField(null=True)
    text = models.TextField(blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.question} {self.subject} {self.value}"


class RatingEdit(PlacedAnswer, AppendOnly):
    """One click or one written remark. Rows are only ever added.

    ``client_id`` is made where the click happened, so that sending it twice stores it once. An
    undo names the edit that it takes back in ``undoes`` and holds the value that it leads back to,
    null where there was none before. ``unblinded``: given after the annotator had been told who
    made what.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="edits")
    client_id = models.UUIDField(unique=True)
    undoes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="undone_by"
    )
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    unblinded = models.BooleanField(default=False)
    client_time = models.DateTimeField(null=True, blank=True)
    edited_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class Rating(PlacedAnswer):
    """The current answer in one place of one assignment, as its edits have it.

    ``version`` counts the edits, so that a page can tell whether it shows the latest.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    version = models.PositiveIntegerField(default=1)
    edit = models.ForeignKey(
        RatingEdit, on_delete=models.RESTRICT, related_name="+", db_index=False
    )
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "question", "subject", "aspect"], name="rating_identity"
            )
        ]
