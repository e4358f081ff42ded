"""Files on their way to a worker, which may run on another machine than the web server."""

from django.conf import settings
from django.db import models


class Upload(models.Model):
    """A file that waits to be imported; it is deleted as soon as that has ended."""

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
    """A piece of an upload; ``index`` counts from 0 without gaps."""

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
