"""Endpoints of language models, and the agents that runs can use."""

from django.conf import settings
from django.db import models


class Endpoint(models.Model):
    """An OpenAI-compatible endpoint with one model under given parameters.

    It stores the name of the environment variable with the key, never the key. Once the endpoint
    has been asked, the fields that shape replies (address, model, parameters, structure, tools)
    cannot change, because a resumed run must ask the same endpoint. ``simulated`` means that a
    program makes up the replies; all results from them are labelled so. A ``delegated`` endpoint
    was made by somebody who is no administrator, so it may use only keys that its maker was
    granted.
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
    concurrency = models.PositiveSmallIntegerField(default=32)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    structured = models.CharField(
        max_length=12, choices=Structured.choices, default=Structured.NONE
    )
    native_tools = models.BooleanField(default=False)
    simulated = models.BooleanField(default=False)
    retired = models.BooleanField(default=False)
    delegated = models.BooleanField(default=False, db_default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class AllowedHost(models.Model):
    """A host, pattern, address or range where endpoints may be, beside those of the environment.

    ``entry`` is in the spelling of ``benchmarks.llm.hosts.read_host_rule``.
    """

    entry = models.CharField(max_length=261, unique=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["entry"]

    def __str__(self) -> str:
        return self.entry


class EndpointKey(models.Model):
    """A key of the environment: the one host that it may be used for, and the people who may use
    it.

    The key itself is in the environment variable; it is never stored. ``host`` is the host of base
    URLs, with the port if it is not that of https. ``users`` may use the key in endpoints that they
    make, and start runs with endpoints that use it; if it is ``shared``, everybody who may start
    runs can do the latter.
    """

    variable = models.CharField(max_length=80, unique=True)
    host = models.CharField(max_length=261)
    shared = models.BooleanField(default=False)
    users = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    bound_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    bound_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["variable"]

    def __str__(self) -> str:
        return self.variable


class Agent(models.Model):
    """An agent that a run can use: a script, recorded answers, an endpoint or a person."""

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
