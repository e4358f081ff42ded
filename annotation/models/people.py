"""Consent, invitations, messages and adjudications."""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import Q

from annotation.models.append_only import AppendOnly
from annotation.models.items import Item
from annotation.models.places import StudyPlace
from annotation.models.sessions import LivePlace
from annotation.models.studies import Membership, Study, StudyText

USER = django_settings.AUTH_USER_MODEL


class Consent(AppendOnly):
    """A person's answer to one version of a text. Rows are only ever added.

    To information there is one answer: that it was read (``given``).
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consents")
    user = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    text = models.ForeignKey(StudyText, on_delete=models.PROTECT, related_name="consents")
    given = models.BooleanField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{'agreed to' if self.given else 'declined'} {self.text_id}"


class Invite(models.Model):
    """A link that lets people into a study. Only a digest of its token is kept.

    It is good for one person, or, where it is ``shared``, for everybody who comes while the
    sessions of the study have a free place, which they get. One to a ``place`` gives its user that
    place of a session too, one to a ``study_place`` that
    list of items.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invites")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, choices=Membership.Role.choices)
    label = models.CharField(max_length=120, blank=True)
    shared = models.BooleanField(default=False, db_default=False)
    place = models.ForeignKey(
        LivePlace, null=True, blank=True, on_delete=models.CASCADE, related_name="invites"
    )
    study_place = models.ForeignKey(
        StudyPlace, null=True, blank=True, on_delete=models.CASCADE, related_name="invites"
    )
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.label or f"invite {self.pk}"


class Message(models.Model):
    """Words of a study's managers to one annotator, or to all where ``to`` is empty."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="messages")
    to = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="study_messages"
    )
    text = models.TextField()
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.text[:60]


class MessageRead(models.Model):
    """The time at which somebody read a message."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="reads")
    user = models.ForeignKey(USER, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "user"], name="message_read_identity")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} read {self.message_id}"


class Adjudication(AppendOnly):
    """An adjudicator's decision at one place of an item, with its reason. Only ever added.

    ``revealed``: the judges' decisions had been shown to the adjudicator by then; ``saw_raters``:
    so had the raters' answers. The latest row of
    a place is the one that counts; ratings are never changed by it.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="adjudications")
    question = models.CharField(max_length=60)
    subject = models.CharField(max_length=80, blank=True)
    value = models.SmallIntegerField(null=True)
    chosen = models.JSONField(null=True)
    reason = models.TextField()
    revealed = models.BooleanField(default=False)
    saw_raters = models.BooleanField(default=True, db_default=True)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["item", "question", "subject"], name="adjudication_place")]
        constraints = [
            models.CheckConstraint(
                condition=Q(value__isnull=False) | Q(chosen__isnull=False),
                name="adjudication_says_something",
            )
        ]

    def __str__(self) -> str:
        return f"{self.question} {self.subject} of {self.item_id}"
