"""Recruiting on platforms such as Prolific or Mechanical Turk: links, and people who used them."""

from django.conf import settings as django_settings
from django.db import models
from django.utils import timezone

from annotation.models.studies import Study

USER = django_settings.AUTH_USER_MODEL


class RecruitingLink(models.Model):
    """A link that lets a number of people into a study. Only a digest of its token is kept.

    Each person judges ``items_each`` items. ``screening`` holds questions with the answers that let
    somebody in. ``code`` is the completion code of the platform for all; where it is empty, each
    person gets one of their own. ``screened_code`` is for people who are screened out, and
    ``review_code`` for people whose work is checked before they get the completion code: with it
    they can return to the platform meanwhile. ``return_url`` leads back to a platform without rules
    of its own.
    """

    class Platform(models.TextChoices):
        PROLIFIC = "prolific", "Prolific"
        MTURK = "mturk", "Mechanical Turk"
        OTHER = "other", "Other"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="recruiting_links")
    digest = models.CharField(max_length=64, unique=True)
    platform = models.CharField(max_length=10, choices=Platform.choices)
    places = models.PositiveIntegerField()
    items_each = models.PositiveIntegerField()
    screening = models.JSONField(default=list, blank=True)
    code = models.CharField(max_length=40, blank=True)
    screened_code = models.CharField(max_length=40, blank=True)
    review_code = models.CharField(max_length=40, blank=True, default="", db_default="")
    return_url = models.CharField(max_length=300, blank=True)
    by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"link {self.pk} for {self.get_platform_display()}"

    @property
    def state(self) -> str:
        """Return open, revoked or expired; whether places are left is another matter."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"


class Recruit(models.Model):
    """A participant who came by a recruiting link, known by the id that their platform gave them.

    ``platform_study`` and ``platform_session`` are the platform's ids of its study (or HIT) and of
    this submission (or assignment). ``user`` is the account that was made for them; there is none
    for people who were screened out. ``browser`` is the digest of a cookie: the id can be used in
    that browser alone, until a manager allows another. ``refused_at``: when another browser tried
    last. ``code`` is the completion code that was given at ``finished_at``; ``approved``: a manager
    let them have it before all items were done, or after a check of their work. ``held_at``: their
    work was done then, and ``held_for`` says, one reason a line, why a manager looks at it first.
    A manager who decided against it did so at ``rejected_at``, with a ``rejection`` that the
    person reads. ``bonus`` is an amount in the platform's currency.
    """

    link = models.ForeignKey(RecruitingLink, on_delete=models.CASCADE, related_name="recruits")
    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="recruits", db_index=False
    )
    external_id = models.CharField(max_length=100)
    platform_study = models.CharField(max_length=100, blank=True)
    platform_session = models.CharField(max_length=100, blank=True)
    user = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="recruited"
    )
    browser = models.CharField(max_length=64, blank=True)
    refused_at = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    code = models.CharField(max_length=40, blank=True)
    approved = models.BooleanField(default=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    held_for = models.TextField(blank=True, default="", db_default="")
    rejected_at = models.DateTimeField(null=True, blank=True)
    rejection = models.TextField(blank=True, default="", db_default="")
    bonus = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="recruit_identity"),
            models.UniqueConstraint(
                fields=["study", "user"],
                condition=models.Q(user__isnull=False),
                name="recruit_account",
            ),
        ]

    def __str__(self) -> str:
        return f"recruit {self.pk}"

    @property
    def screened_out(self) -> bool:
        return self.user_id is None

    @property
    def awaits_check(self) -> bool:
        """Return whether the work is done and a manager has not decided about the code yet."""
        return self.held_at is not None and self.finished_at is None and self.rejected_at is None
