"""Background jobs, the workers that do them, and uploaded files.

The rows are the truth; messages only wake workers.
"""

from django.conf import settings
from django.db import models


class Job(models.Model):
    """One piece of background work, with its lease, progress and result."""

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    payload = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    cancel = models.BooleanField(default=False)
    lease_owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    # Named as in release 0.3, so that its servers go on beside newer ones during an upgrade.
    woken_at = models.DateTimeField(null=True, blank=True, db_column="rung_at")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["status", "lease_until"], name="job_sweep")]

    def __str__(self) -> str:
        return self.title


class WorkerProcess(models.Model):
    """A process that carries runs and jobs, as its heartbeat last reported it.

    ``name`` begins the owner of every lease that the process holds. The row is deleted when the
    process ends as it was told to; a row without a recent heartbeat is of one that was killed.
    """

    class State(models.TextChoices):
        WORKING = "working", "Working"
        ENDING = "ending", "Ending"

    name = models.CharField(max_length=60, unique=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WORKING)
    version = models.CharField(max_length=40)
    threads = models.PositiveSmallIntegerField()
    endpoint_threads = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def holds(self, owner: str) -> bool:
        """Return whether a lease with this owner belongs to the process."""
        return f"{self.name}:" in owner


class Upload(models.Model):
    """A file that waits for its import; it is deleted when the import has ended."""

    name = models.CharField(max_length=120)
    size = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class UploadChunk(models.Model):
    """A chunk of an upload; ``index`` counts from 0 without gaps."""

    upload = models.ForeignKey(
        Upload, on_delete=models.CASCADE, related_name="chunks", db_index=False
    )
    index = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["upload", "index"]
        constraints = [
            models.UniqueConstraint(fields=["upload", "index"], name="upload_chunk_identity")
        ]

    def __str__(self) -> str:
        return f"{self.upload_id} {self.index}"
