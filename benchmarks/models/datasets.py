"""Datasets, their tasks, and the hidden profiles of tasks."""

from django.db import models


class SharedData(models.Model):
    """Data that all tasks of a dataset share, such as a catalogue of tools; it never changes.

    It may take megabytes, so it is stored apart from datasets, which pages read by the dozen.
    """

    digest = models.CharField(max_length=32, primary_key=True)
    content = models.JSONField()

    def __str__(self) -> str:
        return self.digest


class Dataset(models.Model):
    """Tasks of one system from one source; a checksum makes importing twice harmless.

    ``roles`` names the scripted answerers that suit these tasks, by role, where the system's own
    choice does not. ``made_by`` is the run that constructed it, if it was constructed here. One
    with ``removed_at`` is being deleted, and no page shows it.
    """

    system = models.CharField(max_length=40)
    name = models.CharField(max_length=120)
    version = models.CharField(max_length=40, default="1")
    source = models.CharField(max_length=400, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    checksum = models.CharField(max_length=64)
    roles = models.JSONField(default=dict, blank=True)
    shared = models.ForeignKey(SharedData, null=True, blank=True, on_delete=models.PROTECT)
    made_by = models.ForeignKey(
        "benchmarks.Run",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="datasets_made",
    )
    is_demo = models.BooleanField(default=False)
    notes = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["system", "name", "version"], name="dataset_identity")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Task(models.Model):
    """One task: what the agent is asked, and what scripted answerers know of it (payload)."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="tasks")
    external_id = models.CharField(max_length=120)
    prompt = models.TextField()
    category = models.CharField(max_length=80, blank=True)
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="task_identity")
        ]

    def __str__(self) -> str:
        return self.external_id


class Profile(models.Model):
    """The hidden conditions of a task at one level; ``rank`` orders the levels from 1."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="profiles")
    level = models.CharField(max_length=20)
    rank = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["task", "rank"]
        constraints = [models.UniqueConstraint(fields=["task", "level"], name="profile_identity")]

    def __str__(self) -> str:
        return f"{self.task_id} {self.level}"


class Constraint(models.Model):
    """One hidden condition, known to judges by its key."""

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="constraints")
    kind = models.CharField(max_length=30)
    key = models.CharField(max_length=60)
    text = models.TextField()
    about = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["profile", "key"], name="constraint_identity")
        ]

    def __str__(self) -> str:
        return self.text


class Candidate(models.Model):
    """A constraint that was proposed for a task, and what a checker decided about it.

    Keys tell nothing of the decision, and rows come in the order of keys, because people are shown
    candidates who must not know it. ``round`` is the round of construction, where it is known.
    """

    class Kind(models.TextChoices):
        WORLD = "world"
        USER = "user"

    class Decision(models.TextChoices):
        KEPT = "kept"
        REMOVED = "removed"

    # Both indexes below begin with the task.
    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="candidates", db_index=False
    )
    key = models.CharField(max_length=60)
    kind = models.CharField(max_length=10, choices=Kind)
    text = models.TextField()
    round = models.PositiveSmallIntegerField(null=True, blank=True)
    # Null means undecided, which is neither of the two.
    decision = models.CharField(max_length=10, choices=Decision, null=True, blank=True)  # noqa: DJ001
    reason = models.TextField(blank=True)
    decided_by = models.CharField(max_length=120, blank=True)
    payload = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "key"]
        constraints = [models.UniqueConstraint(fields=["task", "key"], name="candidate_identity")]
        indexes = [models.Index(fields=["task", "decision"], name="candidate_decisions")]

    def __str__(self) -> str:
        return self.text
