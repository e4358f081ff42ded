"""Items of a study, participants, and assignments."""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import F, Q

from annotation.models.studies import Study
from benchmarks.models import Task, Trajectory


class Item(models.Model):
    """An item of a study: a trajectory, two of them, a task, or the annotators themselves.

    ``other`` is the second trajectory where two of one task are judged side by side.

    ``asked`` are the keys of the questions that it can be asked, and ``subjects`` what questions
    about parts of it are asked of, such as ``{"turn": ["1", "2"]}``; both are fixed when the study
    is made. ``wanted`` people shall judge it, ``given`` hold an assignment now (open or submitted),
    ``done`` have submitted. The database refuses an assignment too many. ``expected`` holds
    what is right for training and gold items: slot → ``{"values": [...], "chosen": [...],
    "why": "..."}``.
    """

    class Use(models.TextChoices):
        MAIN = "main", "Main"
        GOLD = "gold", "Gold"
        TRAINING = "training", "Training"
        BACKGROUND = "background", "Background questions"
        PLAYED = "played", "A session, asked of who played in it"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items", db_index=False)
    use = models.CharField(max_length=10, choices=Use.choices, default=Use.MAIN)
    trajectory = models.ForeignKey(
        Trajectory, null=True, blank=True, on_delete=models.PROTECT, related_name="items"
    )
    other = models.ForeignKey(
        Trajectory, null=True, blank=True, on_delete=models.PROTECT, related_name="items_as_other"
    )
    task = models.ForeignKey(
        Task, null=True, blank=True, on_delete=models.PROTECT, related_name="items"
    )
    asked = models.JSONField(default=list)
    subjects = models.JSONField(default=dict, blank=True)
    expected = models.JSONField(default=dict, blank=True)
    rank = models.PositiveIntegerField()
    wanted = models.PositiveIntegerField(default=1)
    given = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study", "rank"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "trajectory"],
                condition=Q(trajectory__isnull=False, other__isnull=True),
                name="item_of_trajectory",
            ),
            models.UniqueConstraint(
                fields=["study", "trajectory", "other"],
                condition=Q(other__isnull=False),
                name="item_of_pair",
            ),
            models.UniqueConstraint(
                fields=["study", "task"],
                condition=Q(trajectory__isnull=True, task__isnull=False),
                name="item_of_task",
            ),
            models.UniqueConstraint(fields=["study", "rank"], name="item_rank"),
            models.CheckConstraint(condition=Q(given__lte=F("wanted")), name="item_seats"),
            models.CheckConstraint(condition=Q(done__lte=F("given")), name="item_done"),
        ]
        indexes = [
            models.Index(
                fields=["study", "rank"],
                condition=Q(given__lt=F("wanted")),
                name="item_free",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.rank} of {self.study_id}"

    @property
    def trajectory_ids(self) -> set[int]:
        """The ids of the trajectories that it shows: none, one or two."""
        return {pk for pk in (self.trajectory_id, self.other_id) if pk is not None}


class Participant(models.Model):
    """An annotator in one study: where they stand before the first item, and how far they are.

    Others know them by ``number``. ``consent_version`` is the version of the consent text that they
    agreed to last. The counters are of assignments in the main part (items that count, gold
    among them) and change in the same transaction as the assignments; ``active_ms`` is of
    submitted items, and ``returned`` counts voided assignments too. ``gold_right`` of
    ``gold_asked`` known answers were right since ``gold_since`` (since the beginning where that
    is null). ``sent_back`` counts how often they were sent back to the training, ``refilled``
    the assignments that were opened for others after they left. ``most_items`` is how many
    items of a pool they judge at most, gold among them; None for all. ``cursor`` is the rank up
    to which the pool was looked through for them. ``unblinded_at``: later answers are marked.
    ``guidelines_read_at`` is when they confirmed the guidelines, before their first item.
    """

    class State(models.TextChoices):
        ACTIVE = "active", "Active"
        PAUSED = "paused", "Paused"
        WITHDRAWN = "withdrawn", "Withdrawn"
        ERASED = "erased", "Erased"

    # Those who left: what they said is stored and counts no more.
    GONE = (State.WITHDRAWN, State.ERASED)

    class Training(models.TextChoices):
        NONE = "none", "None"
        PASSED = "passed", "Passed"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="participants", db_index=False
    )
    user = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="participations"
    )
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    training = models.CharField(max_length=8, choices=Training.choices, default=Training.NONE)
    consent_version = models.PositiveSmallIntegerField(default=0)
    told_background = models.BooleanField(default=False)
    guidelines_read_at = models.DateTimeField(null=True, blank=True)
    assigned = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    returned = models.PositiveIntegerField(default=0)
    active_ms = models.PositiveBigIntegerField(default=0)
    gold_right = models.PositiveIntegerField(default=0, db_default=0)
    gold_asked = models.PositiveIntegerField(default=0, db_default=0)
    gold_since = models.DateTimeField(null=True, blank=True)
    sent_back = models.PositiveSmallIntegerField(default=0, db_default=0)
    refilled = models.PositiveIntegerField(default=0, db_default=0)
    most_items = models.PositiveIntegerField(null=True, blank=True)
    cursor = models.PositiveIntegerField(default=0)
    break_since = models.DateTimeField(null=True, blank=True)
    unblinded_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="participant_identity"),
            models.UniqueConstraint(fields=["study", "number"], name="participant_number"),
        ]

    def __str__(self) -> str:
        return f"annotator {self.number}"

    @property
    def has_open_item(self) -> bool:
        """Return whether an assignment of the main part is open, as counted."""
        return self.assigned > self.submitted + self.skipped + self.returned

    @property
    def has_enough(self) -> bool:
        """Return whether they submitted as many items of a pool as they are to judge."""
        return self.most_items is not None and self.submitted >= self.most_items


class Assignment(models.Model):
    """One item that one annotator is to judge: an assignment.

    ``trajectory`` is the item's, copied in for analyses. An assignment that was leased runs out at
    ``leased_until`` and is returned; one that was dealt has none. ``active_ms`` is time at work,
    without idling. Positions count within a ``part``, which is all that a page tells of an item.
    ``verdicts`` and ``rotation`` are fixed when it is first opened: which of the judges' verdicts
    the page shows (as in `Study.verdicts`; empty where the questionnaire shows none), and by how
    many places each section's questions are rotated. ``note`` is what a manager wrote who sent it
    back; ``pattern`` holds the scores and choices that were submitted, so that items with the same
    answers are found. ``revealed`` is how many turns were seen, where they come one by one
    (`annotation.assignments.stepwise`). ``swapped``: of two trajectories, the item's second one
    stands on the left. A voided assignment was submitted once; its answers are
    kept and count no more.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"
        RETURNED = "returned", "Returned"
        VOIDED = "voided", "Voided"

    class Part(models.TextChoices):
        MAIN = "main", "Main"
        TRAINING = "training", "Training"
        BACKGROUND = "background", "Background questions"

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments"
    )
    trajectory = models.ForeignKey(
        Trajectory, null=True, blank=True, on_delete=models.PROTECT, related_name="assignments"
    )
    part = models.CharField(max_length=10, choices=Part.choices, default=Part.MAIN)
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    leased_until = models.DateTimeField(null=True, blank=True)
    skip_reason = models.TextField(blank=True)
    note = models.TextField(blank=True, db_default="")
    pattern = models.CharField(max_length=80, blank=True, db_default="")
    active_ms = models.PositiveBigIntegerField(default=0)
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    verdicts = models.CharField(max_length=8, blank=True, default="", db_default="")
    rotation = models.PositiveSmallIntegerField(default=0, db_default=0)
    revealed = models.PositiveSmallIntegerField(null=True, blank=True)
    swapped = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["study", "annotator", "part", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator", "part", "position"], name="assignment_position"
            ),
            # Training may be repeated; everything else is judged once by a person.
            models.UniqueConstraint(
                fields=["item", "annotator"],
                condition=~Q(part="training"),
                name="assignment_identity",
            ),
        ]
        indexes = [
            models.Index(
                fields=["study", "annotator", "part", "state", "position"], name="assignment_next"
            ),
            models.Index(fields=["study", "state"], name="assignment_progress"),
            models.Index(
                fields=["study", "leased_until"],
                condition=Q(leased_until__isnull=False),
                name="assignment_leases",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.part} item {self.position}"

    @property
    def active_seconds(self) -> float:
        """The time at work in seconds."""
        return self.active_ms / 1000
