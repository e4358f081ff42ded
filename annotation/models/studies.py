"""Studies, their members, and the items that each annotator was given."""

from django.conf import settings as django_settings
from django.db import models

from benchmarks.models import Trajectory


class Annotator(models.Model):
    """What is known of a person as an annotator; a simulated one is labelled wherever it shows."""

    user = models.OneToOneField(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="annotator"
    )
    is_simulated = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.user.get_username()


class Study(models.Model):
    """People judge a set of trajectories by one version of a questionnaire.

    ``settings`` holds the design (how items were dealt) and the labels of who made the
    trajectories; both are fixed when the study is made. ``shows_hidden``: annotators see what was
    hidden from the agent, such as its user's aim, marked as such.
    """

    class Kind(models.TextChoices):
        TEN_QUESTIONS = "ten_questions", "Ten questions"
        DIALOGUE = "dialogue", "Dialogues with tools"

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    name = models.CharField(max_length=160)
    kind = models.CharField(max_length=40, choices=Kind.choices, default=Kind.TEN_QUESTIONS)
    questionnaire = models.CharField(max_length=80)
    blinded = models.BooleanField(default=True)
    shows_hidden = models.BooleanField(default=True)
    seed = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    is_demo = models.BooleanField(default=False)
    settings = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A role of a person in one study; somebody may hold several."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator", "Annotator"
        RESEARCHER = "researcher", "Researcher"
        MANAGER = "manager", "Manager"
        OBSERVER = "observer", "Observer"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=12, choices=Role.choices)

    class Meta:
        ordering = ["study", "role", "id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "role"], name="membership_identity")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} in {self.study_id}"


class Assignment(models.Model):
    """One trajectory that one annotator is to judge.

    ``asked`` are the keys of the questions that this trajectory can be asked, fixed when it was
    assigned. ``active_ms`` is time at work, without idling.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments"
    )
    trajectory = models.ForeignKey(Trajectory, on_delete=models.PROTECT, related_name="assignments")
    position = models.PositiveIntegerField()
    asked = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    skip_reason = models.TextField(blank=True)
    active_ms = models.PositiveBigIntegerField(default=0)
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "annotator", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "trajectory"], name="assignment_identity"
            ),
            models.UniqueConstraint(
                fields=["study", "annotator", "position"], name="assignment_position"
            ),
        ]
        indexes = [models.Index(fields=["study", "state"], name="assignment_progress")]

    def __str__(self) -> str:
        return f"item {self.position}"


class AssignmentEvent(models.Model):
    """What happened to an assignment. Rows are only ever added."""

    class Kind(models.TextChoices):
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"
        REOPENED = "reopened", "Reopened"

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.assignment_id}"
