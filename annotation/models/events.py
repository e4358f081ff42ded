"""The record of a study: every action except answers."""

from django.conf import settings as django_settings
from django.db import models

from annotation.models.append_only import AppendOnly
from annotation.models.items import Assignment
from annotation.models.studies import Study

USER = django_settings.AUTH_USER_MODEL


class StudyEvent(AppendOnly):
    """One thing that was done in a study. Rows are only ever added.

    ``about`` is the person whom it concerns, where there is one; ``detail`` says what there was
    before and after. Answers have a record of their own (`RatingEdit`); pages show both as one.
    """

    class Kind(models.TextChoices):
        SUBMITTED = "submitted", "Item submitted"
        SKIPPED = "skipped", "Item skipped"
        REOPENED = "reopened", "Item reopened"
        LEASED = "leased", "Item taken from the pool"
        RETURNED = "returned", "Item returned to the pool"
        REASSIGNED = "reassigned", "Item given to somebody else"
        ASSIGNED = "assigned", "Items assigned"
        SENT_BACK = "sent_back", "Submission sent back"
        VOIDED = "voided", "Submission voided or restored"
        CREATED = "created", "Study made"
        CHANGED = "changed", "Study changed"
        STATUS = "status", "Status changed"
        TEXT = "text", "Text changed"
        ROLE = "role", "Role given or taken"
        INVITED = "invited", "Invite made, used or revoked"
        CONSENT = "consent", "Consent answered"
        TRAINING = "training", "Training ended or repeated"
        QUALITY = "quality", "Warned about their work"
        PAUSED = "paused", "Annotator paused or resumed"
        MESSAGE = "message", "Message sent"
        UNBLINDED = "unblinded", "Blinding lifted"
        ADJUDICATED = "adjudicated", "Adjudicated"
        REVEALED = "revealed", "Judges shown to an adjudicator"
        WITHDRAWN = "withdrawn", "Annotator withdrawn"
        ERASED = "erased", "Annotator erased"
        RETENTION = "retention", "Removed after the retention time"
        EXPORTED = "exported", "Exported"

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="events", db_index=False
    )
    kind = models.CharField(max_length=12, choices=Kind.choices)
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.CASCADE, related_name="events"
    )
    about = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict, blank=True)
    by = models.ForeignKey(USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["study", "at"], name="event_time"),
            models.Index(fields=["study", "kind", "at"], name="event_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.study_id}"
