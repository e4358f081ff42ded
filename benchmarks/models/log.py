"""The append-only log of everything that was asked and answered."""

from django.apps import apps
from django.db import models

from benchmarks.models.trajectories import Trajectory


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


class StoredMessage(models.Model):
    """A message of an ask; equal messages share a row."""

    digest = models.CharField(max_length=32, primary_key=True)
    speaker = models.CharField(max_length=10)
    text = models.TextField()
    tool_calls = models.JSONField(default=list)
    tool_call_id = models.CharField(max_length=80, blank=True)

    def __str__(self) -> str:
        return self.digest


class CallColumns(models.Model):
    """The columns of every stored call: who was asked what, what came back, and what it cost.

    A row is added before the call leaves and settled once (`benchmarks.calls`), and never changed
    after that. ``most`` is the cost reserved against a cap. It counts as spent if ``cost`` stays
    unknown (lost calls, replies without token counts). ``repeats`` is the attempt that was in
    flight when its process died, 0 where there was none.
    """

    class State(models.TextChoices):
        SENT = "sent", "Sent"
        ANSWERED = "answered", "Answered"
        UNREADABLE = "unreadable", "Unreadable"
        DECLINED = "declined", "Declined"
        FAILED = "failed", "Failed"
        LOST = "lost", "Lost in flight"

    step = models.PositiveSmallIntegerField()
    slot = models.PositiveSmallIntegerField()
    attempt = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=40)
    seat = models.CharField(max_length=40, blank=True)
    answerer = models.ForeignKey(AnswererVersion, on_delete=models.PROTECT)
    ask_digest = models.CharField(max_length=32)
    messages = models.JSONField(default=list)
    expect = models.JSONField(default=dict)
    tools = models.JSONField(default=list)
    seed = models.BigIntegerField()
    repeats = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices)
    text = models.TextField(blank=True)
    value = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    model_reported = models.CharField(max_length=120, blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = models.FloatField(null=True)
    most = models.FloatField(null=True)
    latency = models.FloatField(null=True)
    finish = models.CharField(max_length=40, blank=True)
    tries = models.PositiveSmallIntegerField(default=1)
    sent_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


def call_models() -> list[type[CallColumns]]:
    """Return the tables of calls, one for each purpose, those of other apps among them."""
    return [model for model in apps.get_models() if issubclass(model, CallColumns)]


class StandingExchanges(models.Manager["Exchange"]):
    """The exchanges that were not withdrawn: what a trajectory consists of."""

    def get_queryset(self) -> "models.QuerySet[Exchange]":
        return super().get_queryset().filter(withdrawn_at=None)


class Exchange(CallColumns):
    """One attempt at one ask of a trajectory.

    ``withdrawn_at``: it was taken back, by whoever sent it or with all that came after some point,
    and the trajectory goes on as if it had never been. Such rows are kept in full, but only
    ``every`` has them. What they cost is spent all the same.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="exchanges", db_index=False
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = StandingExchanges()
    every = models.Manager()  # noqa: DJ012 (it is no field)

    class Meta:
        ordering = ["trajectory", "step", "slot", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory", "step", "slot", "attempt"], name="exchange_identity"
            )
        ]
        # Holds all columns that sums of use and cost need, because rows are long.
        indexes = [
            models.Index(
                fields=[
                    "answerer", "latency", "state", "tries", "tokens_in", "tokens_out", "cost",
                    "most", "sent_at", "trajectory",
                ],
                name="exchange_use",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.step}.{self.slot}.{self.attempt} {self.role}"


class OpenAsk(models.Model):
    """An ask that waits for a person; answered once, by whoever posts first."""

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="open_asks", db_index=False
    )
    step = models.PositiveSmallIntegerField()
    slot = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=40)
    seat = models.CharField(max_length=40, blank=True)
    ask_digest = models.CharField(max_length=32)
    messages = models.JSONField(default=list)
    expect = models.JSONField(default=dict)
    tools = models.JSONField(default=list)
    context = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    opened_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["opened_at"]
        constraints = [
            models.UniqueConstraint(fields=["trajectory", "step", "slot"], name="open_ask_identity")
        ]

    def __str__(self) -> str:
        return f"{self.role} at step {self.step}"


class Suggestion(CallColumns):
    """The answer that a script or model would have given to an ask that a person answered.

    It never decides anything. ``state`` is as in exchanges; ``value`` the parsed reply. The newest
    attempt is the one that is shown.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="suggestions", db_index=False
    )
    # What a file of detached runs of release 0.10 does not hold.
    attempt = models.PositiveSmallIntegerField(default=1)
    # Named as in release 0.10, so that its servers go on beside newer ones during an upgrade.
    sent_at = models.DateTimeField(db_column="at")

    class Meta:
        ordering = ["trajectory", "step", "slot", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory", "step", "slot", "attempt"], name="suggestion_attempt"
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} at step {self.step}"
