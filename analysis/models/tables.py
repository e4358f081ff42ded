"""Tables of ratings that were made elsewhere."""

from django.conf import settings as django_settings
from django.db import models


class RatingTable(models.Model):
    """A tidy table as it was sent, and what its report is made with.

    ``content`` is the file itself, packed with gzip; ``settings`` are those of
    `analysis.tables.agreement.settings.Settings`, chosen before the first look. Its owner sees it,
    and others with the right to see results once it is ``shared``.
    """

    name = models.CharField(max_length=120)
    file = models.CharField(max_length=120)
    checksum = models.CharField(max_length=64)
    rows = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    content = models.BinaryField()
    shared = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name
