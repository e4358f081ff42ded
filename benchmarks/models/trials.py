"""Calls by which people try endpoints and judges; they belong to no run."""

from django.conf import settings
from django.db import models

from benchmarks.models.endpoints import Endpoint
from benchmarks.models.jobs import Job
from benchmarks.models.log import AnswererVersion, CallColumns


class EndpointTrial(CallColumns):
    """One harmless question to an endpoint; its role is the question.

    Texts and reasons never contain keys.
    """

    class Question(models.TextChoices):
        WORDS = "words", "An answer in words"
        JSON = "json", "An answer as JSON"
        TOOL = "tool", "A call of a tool"

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="trials")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    currency = models.CharField(max_length=8, blank=True)
    # Empty: an endpoint that was only tried can still be changed.
    answerer = models.ForeignKey(  # type: ignore[assignment]
        AnswererVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )
    # Named as in release 0.10, so that its servers go on beside newer ones during an upgrade.
    role = models.CharField(max_length=40, choices=Question.choices, db_column="question")
    reason = models.TextField(blank=True, db_column="problem")
    sent_at = models.DateTimeField(db_column="at")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"trial {self.pk} of {self.endpoint_id}"


class JudgeTrial(CallColumns):
    """One ask to a judge about one stored turn, which its job names.

    ``endpoint`` is empty for scripts.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="judge_trials")
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.PROTECT, related_name="+")
    answerer = models.ForeignKey(  # type: ignore[assignment]
        AnswererVersion, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"trial {self.pk} of a judge"
