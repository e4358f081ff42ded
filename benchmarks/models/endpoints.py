"""Where language models are asked: OpenAI-compatible endpoints."""

from django.conf import settings
from django.db import models


class Endpoint(models.Model):
    """An OpenAI-compatible endpoint with one model under given parameters.

    It holds the name of the environment variable with the key, never the key. What shapes an answer
    (address, model, parameters, structure, tools) stays as it is once somebody was asked: runs name
    their endpoint, and a run that goes on must ask the same one.
    """

    class Structured(models.TextChoices):
        SCHEMA = "json_schema", "By a JSON schema"
        OBJECT = "json_object", "By a switch for JSON"
        NONE = "none", "Not at all: JSON in the text"

    name = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    base_url = models.CharField(max_length=300)
    model = models.CharField(max_length=120)
    parameters = models.JSONField(default=dict, blank=True)
    key_variable = models.CharField(max_length=80, blank=True)
    price_in = models.FloatField(null=True, blank=True)
    price_out = models.FloatField(null=True, blank=True)
    currency = models.CharField(max_length=8, default="USD")
    timeout = models.FloatField(default=120.0)
    concurrency = models.PositiveSmallIntegerField(default=8)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    structured = models.CharField(
        max_length=12, choices=Structured.choices, default=Structured.NONE
    )
    native_tools = models.BooleanField(default=False)
    retired = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title
