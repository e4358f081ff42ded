"""Who can answer, and who did."""

from django.db import models

from benchmarks.models.endpoints import Endpoint


class Agent(models.Model):
    """Somebody who can be put into a run as its agent."""

    class Kind(models.TextChoices):
        SCRIPTED = "scripted", "Scripted"
        RECORDED = "recorded", "Recorded answers"
        ENDPOINT = "endpoint", "Language model"
        HUMAN = "human", "Person"
        IMPORTED = "imported", "Made elsewhere"

    name = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    system = models.CharField(max_length=40, blank=True)
    policy = models.CharField(max_length=80, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    endpoint = models.ForeignKey(
        Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="agents"
    )
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class AnswererVersion(models.Model):
    """An exact answerer: one row per distinct kind, name, version and parameters."""

    kind = models.CharField(max_length=12)
    name = models.CharField(max_length=120)
    version = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    digest = models.CharField(max_length=32, unique=True)

    class Meta:
        ordering = ["name", "version"]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
