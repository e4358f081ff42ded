"""Trajectories, their turns, and the violations in them."""

from django.db import models

from benchmarks.models.datasets import Constraint, Profile, Task
from benchmarks.models.runs import Run


class Trajectory(models.Model):
    """One unit of work: a task under a profile, tried for the ``attempt``-th time by a run.

    The lease says which worker carries it, until when; a unit whose lease ran out can be claimed.
    ``metrics`` and ``undefined`` are the outcome's; both are derived and can be recomputed.
    A ``reserved`` one belongs to the people of a live session: only they answer its asks, and it
    begins when they do. ``role_changes`` holds role assignments that replace those of the run from
    some turn on; the exchanges say who answered each ask. In a re-judging run ``judged`` is the
    stored trajectory that is re-judged.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        RUNNING = "running", "Running"
        WAITING = "waiting", "Waiting for a person"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        DECISION = "decision", "Needs decision"
        CANCELLED = "cancelled", "Cancelled"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trajectories")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="trajectories")
    profile = models.ForeignKey(Profile, null=True, on_delete=models.PROTECT)
    attempt = models.PositiveSmallIntegerField(default=1)
    seed = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    termination = models.CharField(max_length=40, blank=True)
    turn_count = models.PositiveSmallIntegerField(default=0)
    metrics = models.JSONField(default=dict)
    undefined = models.JSONField(default=dict)
    payload = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    schema_version = models.PositiveSmallIntegerField(default=1)
    scorer_version = models.CharField(max_length=20, blank=True)
    lease_owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    reserved = models.BooleanField(default=False)
    # Named as in release 0.3, so that its servers go on beside newer ones during an upgrade.
    role_changes = models.JSONField(default=dict, blank=True, db_column="recast")
    judged = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="rejudgings",
        db_index=False,  # almost all have none
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "task", "profile", "attempt"], name="trajectory_identity"
            ),
            models.UniqueConstraint(
                fields=["run", "task", "attempt"],
                condition=models.Q(profile__isnull=True),
                name="trajectory_identity_without_profile",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "status", "id"], name="trajectory_pending"),
            models.Index(fields=["status", "termination", "id"], name="trajectory_filter"),
            models.Index(
                fields=["status"], condition=models.Q(reserved=True), name="trajectory_reserved"
            ),
            models.Index(
                fields=["judged"],
                condition=models.Q(judged__isnull=False),
                name="trajectory_judged",
            ),
        ]

    def __str__(self) -> str:
        return f"trajectory {self.pk}"


class Turn(models.Model):
    """A derived turn: the agent's text, what came back, and the system's own record of it."""

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="turns", db_index=False
    )
    index = models.PositiveSmallIntegerField()
    text = models.TextField()
    feedback = models.TextField(blank=True)
    payload = models.JSONField(default=dict)
    is_final = models.BooleanField(default=False)

    class Meta:
        ordering = ["trajectory", "index"]
        constraints = [
            models.UniqueConstraint(fields=["trajectory", "index"], name="turn_identity")
        ]

    def __str__(self) -> str:
        return f"turn {self.index}"


class Violation(models.Model):
    """A violated constraint; ``revealed``, ``new`` and ``repeated`` as the protocol says.

    If neither revealed nor repeated, it is withheld: the agent has not been told.
    """

    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="violations", db_index=False
    )
    constraint = models.ForeignKey(Constraint, null=True, on_delete=models.SET_NULL)
    key = models.CharField(max_length=60)
    kind = models.CharField(max_length=30)
    text = models.TextField()
    revealed = models.BooleanField()
    new = models.BooleanField()
    repeated = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["turn", "key"], name="violation_identity")]

    def __str__(self) -> str:
        return self.key
