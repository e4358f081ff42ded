"""Runs, their trajectories, and the turns that are derived from what was answered."""

from django.conf import settings as django_settings
from django.db import models

from benchmarks.models.answering import Agent
from benchmarks.models.datasets import Constraint, Dataset, Profile, Task


class Experiment(models.Model):
    """Runs that were started together, so that they can be looked at together.

    ``design`` is the matrix that they were made from, where there is one, as its file says it;
    ``preset`` names the shipped design that it is.
    """

    name = models.CharField(max_length=160)
    design = models.JSONField(default=dict, blank=True)
    preset = models.CharField(max_length=40, blank=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One agent on one dataset at one level under one condition.

    ``roles`` says who fills every role, ``settings`` is the complete condition, ``pins`` the
    versions of protocol, prompts, parsers and scorer that made it, with the digests of the prompt
    files. ``committed`` is what its calls have cost and what is put aside for those under way; a
    call that might lift it above ``cost_cap`` is not sent. ``problem`` says why a run was paused
    without anybody asking. ``created_trajectories`` counts the trajectories that were ever created
    for the run; trajectories are never deleted, so verifying compares it with those that exist.
    """

    class Kind(models.TextChoices):
        MADE = "made", "Made here"
        IMPORTED = "imported", "Imported"
        PRACTICE = "practice", "Practice round"
        JUDGING = "judging", "Judging anew"
        CONSTRUCTION = "construct", "Construction"

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        WAITING = "waiting", "Waiting for people"
        ATTENTION = "attention", "Needs attention"
        DONE = "done", "Done"
        CANCELLED = "cancelled", "Cancelled"

    experiment = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.MADE)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="runs")
    level = models.CharField(max_length=20, blank=True)
    condition = models.CharField(max_length=200, default="standard")
    settings = models.JSONField(default=dict)
    roles = models.JSONField(default=dict)
    pins = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    problem = models.TextField(blank=True)
    cost_cap = models.FloatField(null=True, blank=True)
    committed = models.FloatField(default=0)
    currency = models.CharField(max_length=8, blank=True)
    is_demo = models.BooleanField(default=False)
    source = models.CharField(max_length=400, blank=True)
    checksum = models.CharField(max_length=64, blank=True)
    primary_judging = models.ForeignKey(
        "benchmarks.Judging", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    data_version = models.PositiveIntegerField(default=0)
    created_trajectories = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            # One file is imported once, however many try at the same time.
            models.UniqueConstraint(
                fields=["checksum", "agent"],
                condition=models.Q(kind="imported"),
                name="imported_run_identity",
            )
        ]
        permissions = [
            ("view_results", "Can browse datasets, runs, trajectories and analyses"),
            ("start_runs", "Can import data and start, pause and cancel runs"),
            ("answer_asks", "Can answer for roles that people fill in runs"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def versions(self) -> dict[str, str]:
        """The pinned versions by name, without the digests that stand beside them."""
        return {name: pin for name, pin in self.pins.items() if isinstance(pin, str)}


# Runs in which an agent is tried. Practice rounds stand apart from everything; in the others judges
# look at stored trajectories again, or a dataset is made.
COUNTED = models.Q(kind__in=[Run.Kind.MADE, Run.Kind.IMPORTED])


class Trajectory(models.Model):
    """One unit of work: a task under a profile, tried for the ``attempt``-th time by a run.

    The lease says which worker carries it, until when; a unit whose lease ran out can be claimed.
    ``metrics`` and ``undefined`` are the outcome's; both are derived and can be recomputed.
    A ``reserved`` one belongs to people who were given its places: nobody else answers its asks,
    and it begins when they do. ``recast`` names who fills roles in place of those of the run, from
    some turn on; who in fact answered stands in its exchanges. In a run that judges anew ``judged``
    is the stored trajectory that is looked at.
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
    recast = models.JSONField(default=dict, blank=True)
    judged = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="judged_anew",
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

    Neither revealed nor repeated: withheld, the agent has not heard of it.
    """

    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="violations", db_index=False
    )
    constraint = models.ForeignKey(Constraint, null=True, on_delete=models.SET_NULL, db_index=False)
    key = models.CharField(max_length=60)
    kind = models.CharField(max_length=10)
    text = models.TextField()
    revealed = models.BooleanField()
    new = models.BooleanField()
    repeated = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["turn", "key"], name="violation_identity")]

    def __str__(self) -> str:
        return self.key
