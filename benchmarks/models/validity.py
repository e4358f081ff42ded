"""Certificates of validity of datasets."""

from django.db import models

from benchmarks.models.datasets import Dataset


class ValidityCertificate(models.Model):
    """What a dataset was found to measure, under the versions of its system; it never changes.

    ``versions`` are those of protocol, parsers, scorer and certificate, ``versions_digest`` stands
    for them. ``content`` is what was played (``benchmarks.validity.trials``), and ``digest`` stands
    for it, the versions and the dataset's checksum.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="certificates")
    versions = models.JSONField()
    versions_digest = models.CharField(max_length=32)
    content = models.JSONField()
    digest = models.CharField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "versions_digest"], name="validity_certificate_identity"
            )
        ]

    def __str__(self) -> str:
        return f"certificate {self.digest}"
