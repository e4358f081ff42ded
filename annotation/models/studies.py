"""Studies, their texts and questionnaires, and who has which role in them."""

from django.conf import settings as django_settings
from django.db import models

# The setting of a study of live sessions.
LIVE, DUELS = "live", "duels"


class Annotator(models.Model):
    """The properties of a person as an annotator; a simulated one is labelled wherever it shows."""

    user = models.OneToOneField(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="annotator"
    )
    is_simulated = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.user.get_username()


class Study(models.Model):
    """People judge a set of trajectories or tasks by one version of a questionnaire.

    ``settings`` holds the design (how items were chosen and dealt) and the labels of who made the
    trajectories; both are fixed when the study is made. ``shows_hidden``: annotators see what was
    hidden from the agent, such as its user's aim, marked as such. ``verdicts``: which verdicts of
    the judges on plans annotators see (``random``: `annotation.designs.hold_out`);
    ``question_order``: whether the order of the questions
    changes from item to item; ``gold_feedback``: who submits a gold item sees what was expected;
    ``turn_by_turn``: turns are revealed one after the other, each when the one before is scored;
    ``adjudication_rule``: the version of the rule by which it adjudicates unless its settings say
    otherwise (`annotation.plans.adjudication_rule`).
    ``background`` is the
    questionnaire about the annotators themselves, empty where there is none. In a ``pool`` whoever
    is free leases the next item for ``lease_minutes``; otherwise items are dealt to places
    (`StudyPlace`), which people claim.
    ``pass_mark`` is the share of expected answers to training items that opens the others;
    ``consent_version`` is that of the newest consent text, 0 where consent is not asked. One with
    ``removed_at`` is being deleted, and no page shows it.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"
        ARCHIVED = "archived", "Archived"

    OVER = (Status.CLOSED, Status.ARCHIVED)
    WORKING = (Status.OPEN, Status.PAUSED)

    class Dealing(models.TextChoices):
        NAMED = "named", "Dealt in lists, one for each place"
        POOL = "pool", "Taken from a pool"

    class Verdicts(models.TextChoices):
        EARLIER = "earlier", "All but the one on the final plan, which is being scored"
        NONE = "none", "None"
        ALL = "all", "All"
        RANDOM = "random", "At random: all but the final plan’s, or none, by annotator and item"

    class QuestionOrder(models.TextChoices):
        FIXED = "fixed", "The same for every item"
        ROTATED = "rotated", "Rotated within each section, from item to item"

    name = models.CharField(max_length=160)
    kind = models.CharField(max_length=40)
    questionnaire = models.CharField(max_length=80)
    background = models.CharField(max_length=80, blank=True)
    dealing = models.CharField(max_length=10, choices=Dealing.choices, default=Dealing.NAMED)
    lease_minutes = models.PositiveIntegerField(default=120)
    idle_seconds = models.PositiveIntegerField(default=60)
    break_minutes = models.PositiveIntegerField(default=45)
    trains = models.BooleanField(default=False)
    pass_mark = models.FloatField(default=0.75)
    consent_version = models.PositiveSmallIntegerField(default=0)
    blinded = models.BooleanField(default=True)
    shows_hidden = models.BooleanField(default=True)
    verdicts = models.CharField(
        max_length=8,
        choices=Verdicts.choices,
        default=Verdicts.EARLIER,
        db_default=Verdicts.EARLIER,
    )
    question_order = models.CharField(
        max_length=8,
        choices=QuestionOrder.choices,
        default=QuestionOrder.FIXED,
        db_default=QuestionOrder.FIXED,
    )
    gold_feedback = models.BooleanField(default=False, db_default=False)
    turn_by_turn = models.BooleanField(default=False, db_default=False)
    # Studies from before the second rule keep the first.
    adjudication_rule = models.PositiveSmallIntegerField(default=2, db_default=1)
    seed = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.DRAFT)
    closes_at = models.DateTimeField(null=True, blank=True)
    is_demo = models.BooleanField(default=False)
    settings = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        """Return whether it is one of live sessions, without a query."""
        return bool(self.settings.get(LIVE))

    @property
    def has_duels(self) -> bool:
        """Return whether its sessions are played two at a time, without a query."""
        return bool(self.settings.get(DUELS))


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


class StudyText(models.Model):
    """A text that annotators read before the first item. Another wording is another version."""

    class Kind(models.TextChoices):
        INFORMATION = "information", "Information"
        CONSENT = "consent", "Consent"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="texts")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    version = models.PositiveSmallIntegerField()
    text = models.TextField()
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "kind", "version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "version"], name="text_identity")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"


class StoredQuestionnaire(models.Model):
    """A version of a questionnaire that was written on a page. Never changed once stored."""

    name = models.CharField(max_length=60)
    version = models.PositiveIntegerField()
    text = models.TextField()
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="questionnaire_identity")
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"
