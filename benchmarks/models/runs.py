"""Runs, and the experiments that they belong to."""

from django.conf import settings as django_settings
from django.db import models

from benchmarks.core.plugins import PLUG_IN
from benchmarks.models.datasets import Dataset
from benchmarks.models.endpoints import Agent


class Experiment(models.Model):
    """Runs that were started together and are shown together.

    ``design`` is the matrix that they were created from, if any, as its file states it; ``preset``
    is the key of a shipped design.
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
    files, and the plug-in of its system or, of imported runs, of its format. ``committed`` is the
    cost of its calls plus the cost reserved for those under way; a call that might lift it above
    ``cost_cap`` is not sent. ``problem`` says why a run was paused automatically.
    ``created_trajectories`` counts the trajectories that were ever created
    for the run; they are deleted with the run only, so verifying compares it with those that exist.
    ``design_tasks`` are the tasks that the run's design demands, by external id: null for all of
    its level, an empty list where the design fixes none, as in live sessions.
    A run with ``removed_at`` is being deleted, or its trajectories are in the file that ``archive``
    describes (`config.backups.detaching`); no page counts it.
    """

    class Kind(models.TextChoices):
        MADE = "made", "Made here"
        IMPORTED = "imported", "Imported"
        PRACTICE = "practice", "Practice round"
        JUDGING = "judging", "Re-judging"
        CONSTRUCTION = "construct", "Construction"
        BRANCH = "branch", "Branches"

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
    design_tasks = models.JSONField(null=True, blank=True, default=None)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    archive = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["removed_at"],
                condition=models.Q(removed_at__isnull=False),
                name="run_removed",
            )
        ]
        constraints = [
            # A file is imported once, even if several people try at the same time.
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
    def plug_in(self) -> str:
        """Return package and version of the plug-in that made the run; empty without one."""
        pin = self.pins.get(PLUG_IN)
        return f"{pin['name']} of {pin['package']} {pin['version']}".strip() if pin else ""

    @property
    def versions(self) -> dict[str, str]:
        """Return the pinned versions by name, without the digests of prompt files."""
        return {name: pin for name, pin in self.pins.items() if isinstance(pin, str)}


# Runs that test an agent: not practice rounds, re-judgings, constructions or branches.
COUNTED = models.Q(kind__in=[Run.Kind.MADE, Run.Kind.IMPORTED])
