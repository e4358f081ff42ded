"""Failure labels, notes and comments on trajectories.

Nothing is overwritten. Removing a label, rewording a note and deleting one each add a row.
"""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import F, Q

from annotation.models.append_only import AppendOnly
from benchmarks.models import Trajectory

USER = django_settings.AUTH_USER_MODEL


class LabelSet(models.Model):
    """A version of a set of failure labels, such as a published taxonomy; it never changes.

    ``text`` is the file as it was read. A label belongs to the newest version that names it;
    those that a newer version leaves out stay with theirs, retired.
    """

    key = models.SlugField(max_length=20)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=80)
    source = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    made_by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["key", "version"], name="label_set_identity")
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"


class FailureLabel(models.Model):
    """A kind of failure as it is worded now; `FailureWording` has every wording it had.

    A label of a ``label_set`` is worded by its file; its ``parent`` is a heading, which nobody
    puts, and an ``exclusive`` one leaves no room for another label of the set by the same person
    at the same place. ``system`` is the key of the benchmark whose analysis names it, empty where
    it is general; ``source`` says where it was described. A retired label stays where it was put
    and is offered no more. ``made_by`` is empty for those that ship with the product.
    """

    key = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=80)
    definition = models.TextField()
    system = models.CharField(max_length=40, blank=True)
    source = models.CharField(max_length=200, blank=True)
    label_set = models.ForeignKey(
        LabelSet, null=True, blank=True, on_delete=models.PROTECT, related_name="labels"
    )
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    example = models.TextField(blank=True, default="", db_default="")
    exclusive = models.BooleanField(default=False, db_default=False)
    rank = models.PositiveSmallIntegerField(default=0)
    retired = models.BooleanField(default=False)
    made_by = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rank", "id"]

    def __str__(self) -> str:
        return self.title


class FailureWording(AppendOnly):
    """One wording of a failure label: who wrote it, and when. Rows are only ever added."""

    label = models.ForeignKey(
        FailureLabel, on_delete=models.PROTECT, related_name="wordings", db_index=False
    )
    version = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=80)
    definition = models.TextField()
    source = models.CharField(max_length=200, blank=True)
    retired = models.BooleanField(default=False)
    by = models.ForeignKey(USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["label", "version"]
        constraints = [
            models.UniqueConstraint(fields=["label", "version"], name="failure_wording_identity")
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"


class TrajectoryLabel(AppendOnly):
    """A label that somebody put on a trajectory, or on one of its turns. Only ever added.

    It is on as long as no `LabelRemoval` names it. ``turn`` is the turn's index; ``note`` is what
    an imported file says beside the label.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="failure_labels", db_index=False
    )
    turn = models.PositiveSmallIntegerField(null=True, blank=True)
    label = models.ForeignKey(FailureLabel, on_delete=models.PROTECT, related_name="uses")
    note = models.TextField(blank=True, default="", db_default="")
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["trajectory", "label"], name="label_of_trajectory")]

    def __str__(self) -> str:
        return f"{self.label_id} on {self.trajectory_id}"


class LabelRemoval(AppendOnly):
    """The removal of a label. Rows are only ever added."""

    put = models.OneToOneField(TrajectoryLabel, on_delete=models.CASCADE, related_name="removal")
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.put_id} taken off"


class Remark(AppendOnly):
    """A note on a trajectory, a turn or a passage; `RemarkText` has what it says. Only ever added.

    A passage is the ``quote`` from ``start`` up to ``end``, in characters, of the turn's plan or
    feedback. Where the person is erased the quote goes, for what somebody picked is theirs too.
    """

    class Where(models.TextChoices):
        PLAN = "plan", "Plan"
        FEEDBACK = "feedback", "Feedback"

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="remarks")
    turn = models.PositiveSmallIntegerField(null=True, blank=True)
    where = models.CharField(max_length=10, choices=Where.choices, blank=True)
    quote = models.TextField(blank=True)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="remark_on_a_passage",
                condition=Q(start__isnull=True, end__isnull=True)
                | Q(
                    turn__isnull=False,
                    where__in=("plan", "feedback"),
                    start__isnull=False,
                    end__isnull=False,
                    start__lt=F("end"),
                ),
            )
        ]

    def __str__(self) -> str:
        return f"remark on {self.trajectory_id}"


class RemarkText(AppendOnly):
    """A version of a remark's text; the latest counts. Only ever added.

    ``deleted``: the remark was taken away; what it said before is kept in the earlier rows.
    """

    remark = models.ForeignKey(Remark, on_delete=models.CASCADE, related_name="texts")
    text = models.TextField(blank=True)
    deleted = models.BooleanField(default=False)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text[:60]
