"""Views of pages with filters that somebody keeps."""

from django.conf import settings as django_settings
from django.db import models


class SavedView(models.Model):
    """A page with its filters under a name: ``page`` names the page, ``query`` is its address.

    Its owner sees it, and others with the right to see results once it is ``shared``.
    """

    owner = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=80)
    page = models.CharField(max_length=60)
    query = models.TextField(blank=True)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "page", "name"], name="saved_view_identity")
        ]

    def __str__(self) -> str:
        return self.name
